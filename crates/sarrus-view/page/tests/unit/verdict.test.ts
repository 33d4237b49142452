import { expect, test } from "vitest";
import { verdict } from "../../src/verdict";

const run = (name: string, passed?: boolean) => ({ name, report: passed === undefined ? null : { certificate: { passed } } });

test("of several runs those that are not certified are named", () => {
  expect(verdict([run("a", true)])).toBe("certified");
  expect(verdict([run("a", false)])).toBe("not certified");
  expect(verdict([run("a", true), run("b", true)])).toBe("certified");
  expect(verdict([run("a", true), run("b", false), run("c", false)])).toBe("not certified: b, c");
});

test("there is no verdict before there is a report", () => {
  expect(verdict([run("a")])).toBe("");
  expect(verdict([run("a", true), run("b")])).toBe("");
});
