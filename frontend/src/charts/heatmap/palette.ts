/**
 * Colour ramps. Chosen for even, monotonic lightness under normal and colour-deficient vision; the
 * lightness follows the theme, so that more is always more contrast with the page.
 */

import { interpolateLab, interpolateRgb, piecewise } from 'd3-interpolate'
import { interpolateCividis, interpolatePuOr } from 'd3-scale-chromatic'

export type Theme = 'light' | 'dark'
export type Rgb = readonly [number, number, number]
export type Ramp = (position: number) => Rgb

export const PAGE: Record<Theme, Rgb> = { light: [255, 255, 255], dark: [16, 19, 24] }

function parse(colour: string): Rgb {
  if (colour.startsWith('#')) {
    const bits = Number.parseInt(colour.slice(1), 16)
    return [bits >> 16, (bits >> 8) & 255, bits & 255]
  }
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number)
  return [Math.round(red), Math.round(green), Math.round(blue)]
}

// The hues of cividis with the lightness turned over: from a pale blue to a dark yellow.
const LIGHT_CIVIDIS = piecewise(interpolateLab, ['#d3e2f7', '#8e9094', '#463500'])

/**
 * Cividis: 0, the least, is blue and 1, the most, is yellow in both themes, so that two pictures of different themes
 * agree. Only the lightness turns: more is brighter on a dark page, darker on a light one.
 */
export function sequential(theme: Theme): Ramp {
  return theme === 'dark' ? (t) => parse(interpolateCividis(0.06 + 0.94 * t)) : (t) => parse(LIGHT_CIVIDIS(t))
}

// PuOr's middle is near white. On a dark page the arms are turned over: dark in the middle, bright at the ends,
// in the same two hues, lightness rising with distance on both sides.
const DARK_ARMS = piecewise(interpolateRgb, [
  '#ffd08a',
  '#e08a22',
  '#8f5212',
  '#2a2d33',
  '#5f4a94',
  '#9486c4',
  '#d6d0f2',
])

/** PuOr, 0.5 in the middle: below is orange, above is purple; the middle is the quietest colour of the theme. */
export function diverging(theme: Theme): Ramp {
  return theme === 'dark' ? (t) => parse(DARK_ARMS(t)) : (t) => parse(interpolatePuOr(1 - t))
}

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
const LINES: Record<Theme, string[]> = {
  light: ['#0b7285', '#8a5a83', '#c92a2a'],
  dark: ['#5fd3e6', '#d6a3cf', '#ff8787'],
}

/** The ramp of lines over cells: 0 is the best, 1 the worst. */
export function lineRamp(theme: Theme): Ramp {
  const colours = piecewise(interpolateLab, LINES[theme])
  return (t) => parse(colours(Math.min(1, Math.max(0, t))))
}

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
