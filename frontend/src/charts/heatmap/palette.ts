/**
 * Colour ramps. Chosen for even, monotonic lightness under normal and colour-deficient vision; the
 * lightness follows the theme, so that more is always more contrast with the page.
 */

export type Theme = 'light' | 'dark'
export type Rgb = readonly [number, number, number]
export type Ramp = (position: number) => Rgb

export const PAGE: Record<Theme, Rgb> = { light: [255, 255, 255], dark: [16, 19, 24] }

/** Return the ramp through colours at even distances: d3's scales would come with all their palettes into the first load. */
function through(...stops: string[]): Ramp {
  const colours = stops.map(
    (stop) => [1, 3, 5].map((at) => Number.parseInt(stop.slice(at, at + 2), 16)) as unknown as Rgb,
  )
  return (t) => {
    const at = Math.min(1, Math.max(0, t)) * (colours.length - 1)
    const [from, to] = [colours[Math.floor(at)] as Rgb, colours[Math.ceil(at)] as Rgb]
    const mix = (channel: 0 | 1 | 2) => Math.round(from[channel] + (to[channel] - from[channel]) * (at % 1))
    return [mix(0), mix(1), mix(2)]
  }
}

const SEQUENTIAL: Record<Theme, Ramp> = {
  // The hues of cividis with the lightness turned over: from a pale blue to a dark yellow.
  light: through('#d3e2f7', '#b0b8c4', '#8e9094', '#6c604a', '#463500'),
  dark: through(...['#012b64', '#23406e', '#4b556d', '#6c6b70', '#858176', '#9f9978', '#c0b26f', '#e5cd5a', '#fdea45']),
}

/**
 * Cividis: 0, the least, is blue and 1, the most, is yellow in both themes, so that two pictures of different themes
 * agree. Only the lightness turns: more is brighter on a dark page, darker on a light one.
 */
export const sequential = (theme: Theme): Ramp => SEQUENTIAL[theme]

const DIVERGING: Record<Theme, Ramp> = {
  light: through(
    ...['#7f3b08', '#b25a09', '#dd841f', '#f8b664', '#fdddb3', '#f3eeea', '#d7d7e9', '#b0aad0', '#8170ac', '#552d84'],
    '#2d004b',
  ),
  // The arms are turned over: dark in the middle, bright at the ends, in the same two hues.
  dark: through('#ffd08a', '#e08a22', '#8f5212', '#2a2d33', '#5f4a94', '#9486c4', '#d6d0f2'),
}

/** PuOr, 0.5 in the middle: below is orange, above is purple; the middle is the quietest colour of the theme. */
export const diverging = (theme: Theme): Ramp => DIVERGING[theme]

// An unusual value must differ from a usual one, however small it is on the scale.
const LEAST = 0.25

/** The ramp of changes from usual: diverging, with the quiet colour in its middle and a step on both sides of it. */
export function changed(theme: Theme): Ramp {
  const colours = diverging(theme)
  return (t) => {
    const far = 2 * t - 1
    return far === 0 ? QUIET[theme] : colours(0.5 + (Math.sign(far) * (LEAST + (1 - LEAST) * Math.abs(far))) / 2)
  }
}

// Hues that no ramp of cells has, each with contrast to the page: lines cross cells of every colour.
const LINES: Record<Theme, Ramp> = {
  light: through('#0b7285', '#606884', '#8a5a83', '#ae4857', '#c92a2a'),
  dark: through('#5fd3e6', '#a8bdda', '#d6a3cf', '#ed96ab', '#ff8787'),
}

/** The ramp of lines over cells: 0 is the best, 1 the worst. */
export const lineRamp = (theme: Theme): Ramp => LINES[theme]

/** Relative luminance, WCAG 2.2. */
export function luminance([red, green, blue]: Rgb): number {
  const linear = [red, green, blue].map((channel) => {
    const c = channel / 255
    return c <= 0.040_45 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * (linear[0] as number) + 0.7152 * (linear[1] as number) + 0.0722 * (linear[2] as number)
}

/** Contrast ratio of two colours, 1 to 21, WCAG 2.2. */
export function contrast(a: Rgb, b: Rgb): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

/** Blends a colour towards the page: a value no larger than its error must not stand out. */
export function dimmed(colour: Rgb, theme: Theme): Rgb {
  const mix = (channel: 0 | 1 | 2) => Math.round(PAGE[theme][channel] * 0.3 + colour[channel] * 0.7)
  return [mix(0), mix(1), mix(2)]
}

/** The colour of an unremarkable value: not empty, and quieter than any colour of a ramp. */
export const QUIET: Record<Theme, Rgb> = { light: [238, 238, 234], dark: [30, 35, 43] }

/** Little-endian RGBA, as an `ImageData` buffer read in 32-bit words holds it. */
export const pack = ([red, green, blue]: Rgb): number => (255 << 24) | (blue << 16) | (green << 8) | red

export interface ColourTable {
  plain: Uint32Array
  faint: Uint32Array
}

const STEPS = 512

/** Colours by code: `position` puts a code on the ramp (0 to 1, clamped), or `null` where it has no value. */
export function colourTable(
  length: number,
  position: (code: number) => number | null,
  ramp: Ramp,
  theme: Theme,
): ColourTable {
  const colours = Array.from({ length: STEPS + 1 }, (_, step) => ramp(step / STEPS))
  const plain = new Uint32Array(length)
  const faint = new Uint32Array(length)
  const steps = colours.map((colour) => [pack(colour), pack(dimmed(colour, theme))] as const)
  for (let code = 0; code < length; code++) {
    const at = position(code)
    if (at === null || Number.isNaN(at)) continue
    const [full, quiet] = steps[Math.round(Math.min(1, Math.max(0, at)) * STEPS)] as readonly [number, number]
    plain[code] = full
    faint[code] = quiet
  }
  return { plain, faint }
}
