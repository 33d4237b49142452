// What the address asks for, after its `#`: a time, a look, what is shown. For links into a motion, and for pictures.
//
//     #t=0.4&show=reactions,names&hide=grid&panel=0&theme=dark

import type { Show } from "./draw/world";
import type { Name } from "./theme";
import { SWITCHES, type Switch } from "./ui/options";

export interface Asked {
  /** Where the time stands at the start [s]. */
  t: number | null;
  play: boolean | null;
  show: Switch[];
  hide: Switch[];
  /** Factors on deformations and arrows. */
  deformation: number | null;
  arrows: number | null;
  /** Whether plots and numbers are open. */
  panel: boolean | null;
  theme: Name | null;
  /** Only the mechanism: no bars, no panel. */
  picture: boolean;
  /** What could not be understood, as it was written. */
  strange: string[];
}

/** Reads what follows the `#` of an address. */
export function asked(hash: string): Asked {
  const out: Asked = { t: null, play: null, show: [], hide: [], deformation: null, arrows: null, panel: null, theme: null, picture: false, strange: [] };
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    const strange = () => void out.strange.push(`${key}=${value}`);
    const number = Number(value), given = value.trim() !== "" && Number.isFinite(number);
    switch (key) {
      case "t":
        if (given) out.t = number;
        else strange();
        break;
      case "deformation":
      case "arrows":
        if (given && number > 0) out[key] = number;
        else strange();
        break;
      case "panel":
      case "play":
      case "picture":
        if (value === "0" || value === "1") out[key] = value === "1";
        else strange();
        break;
      case "theme":
        if (value === "light" || value === "dark") out.theme = value;
        else strange();
        break;
      case "show":
      case "hide":
        for (const name of value.split(",")) {
          const known = SWITCHES.find((s) => s.key === name.trim());
          if (known) out[key].push(known.key);
          else out.strange.push(`${key}=${name}`);
        }
        break;
      default:
        strange();
    }
  }
  return out;
}

/** Sets what is shown, before anything is drawn. */
export function apply(want: Asked, show: Show): void {
  for (const key of want.show) show[key] = true;
  for (const key of want.hide) show[key] = false;
  show.deformation = want.deformation ?? show.deformation;
  show.arrows = want.arrows ?? show.arrows;
}
