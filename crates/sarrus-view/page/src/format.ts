// Numbers and times as text.

/** With so many digits, in powers of ten where that is shorter. */
export function fmt(x: number, digits = 5): string {
  if (Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e5 || size < 1e-3 ? x.toExponential(digits - 1) : x.toPrecision(digits);
  return text.replace("-", "−").replace("e+", "e").replace("e-", "e−");
}

/** All digits that tell this number from its neighbours. */
export function exact(x: number): string {
  return String(x);
}

/** A time with as many decimals as its step needs. */
export function fmtTime(t: number, step: number): string {
  const decimals = Math.min(9, Math.max(2, Math.ceil(-Math.log10(step || 0.01))));
  return t.toFixed(decimals).replace("-", "−");
}

/** A length with a fitting unit. */
export function fmtLength(x: number): string {
  if (x >= 1000) return `${+(x / 1000).toPrecision(3)} km`;
  if (x >= 0.5) return `${+x.toPrecision(3)} m`;
  if (x >= 0.0005) return `${+(x * 1000).toPrecision(3)} mm`;
  return `${+(x * 1e6).toPrecision(3)} µm`;
}

/** 1, 2 or 5 times a power of ten, at or below x. */
export function nice(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x) + 1e-9);
  const m = x / power;
  return power * (m >= 5 ? 5 : m >= 2 ? 2 : 1);
}

/** Speeds that can be chosen, as numbers that print well. */
export const SPEEDS = [-4, -3, -2, -1, 0, 1, 2, 3].flatMap((p) => [1, 2, 5].map((m) => Number(`${m}e${p}`)));

/** The speed at which a run of this length takes about ten seconds; 1 if that is bearable. */
export function fittingSpeed(duration: number): number {
  if (!(duration > 0) || (duration >= 1.5 && duration <= 40)) return 1;
  const want = duration / 8;
  return SPEEDS.reduce((best, s) => (Math.abs(Math.log(s / want)) < Math.abs(Math.log(best / want)) ? s : best), 1);
}
