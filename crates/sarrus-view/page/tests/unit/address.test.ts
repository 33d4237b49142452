import { expect, test } from "vitest";
import { apply, asked } from "../../src/address";
import type { Show } from "../../src/draw/world";

test("an address without anything asks for nothing", () => {
  for (const hash of ["", "#"]) {
    const { strange, t, panel, theme, show, picture } = asked(hash);
    expect({ strange, t, panel, theme, show, picture }).toEqual({ strange: [], t: null, panel: null, theme: null, show: [], picture: false });
  }
});

test("time, look and what is shown are read", () => {
  const want = asked("#t=-0.5&show=reactions,%20frames&hide=grid&panel=0&theme=dark&play=1&deformation=20&arrows=2&picture=1");
  expect(want).toEqual({ t: -0.5, play: true, show: ["reactions", "frames"], hide: ["grid"], deformation: 20, arrows: 2, panel: false, theme: "dark", picture: true, strange: [] });
  const show: Show = { bodies: true, joints: true, reactions: false, forces: true, traces: true, frames: false, grid: true, names: false, deformation: 1, arrows: 1 };
  apply(want, show);
  expect(show).toMatchObject({ reactions: true, frames: true, grid: false, names: false, deformation: 20, arrows: 2 });
});

test("what cannot be understood is named, and the rest still holds", () => {
  const want = asked("#t=soon&t=&show=shadows,names&panel=yes&theme=pink&deformation=-1&colour=red");
  expect(want.strange).toEqual(["t=soon", "t=", "show=shadows", "panel=yes", "theme=pink", "deformation=-1", "colour=red"]);
  expect(want).toMatchObject({ t: null, show: ["names"], panel: null, theme: null, deformation: null });
});
