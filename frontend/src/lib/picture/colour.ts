/** Colours of the page as pictures need them. */

/** Return a colour with custom properties and light-dark() resolved as they are at an element. */
export function resolveColour(element: Element, colour: string): string {
  const probe = document.createElement('span')
  probe.style.color = colour
  element.append(probe)
  const resolved = getComputedStyle(probe).color
  probe.remove()
  return plainColour(resolved)
}

/** Return a computed colour as `rgb()` or `rgba()`: other programs do not read the newer `color()` of browsers. */
export function plainColour(colour: string): string {
  const [, parts, alpha] = /^color\(srgb ([^/)]+)(?:\/ ([^)]+))?\)$/.exec(colour) ?? []
  if (parts === undefined) return colour
  const channels = parts
    .trim()
    .split(/\s+/)
    .map((part) => Math.round(Number(part) * 255))
  return alpha === undefined ? `rgb(${channels.join(', ')})` : `rgba(${channels.join(', ')}, ${alpha.trim()})`
}
