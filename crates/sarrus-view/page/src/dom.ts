// Elements made in one line. Text from models is always a text node, never markup.

type Attributes = Record<string, string | number | boolean | null | undefined | EventListener>;

/** An element; attributes that are functions are listeners, `false` and null leave an attribute out. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: (Node | string | null)[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== false && value != null) element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.filter((c) => c !== null));
  return element;
}

/** An element of the page that must be there. */
export function el<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found as T;
}

export function svg(tag: string, attributes: Record<string, string | number> = {}): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/** Sets text only where it changed: screen readers and layout are spared. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
