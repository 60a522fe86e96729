/** Codes to pixels: one pixel per cell, by table. */

import { type Grid, isColoured, type Look } from './grid'
import type { ColourTable } from './palette'

/** Colours where there is a value, transparent where there is none. */
export function paint(grid: Grid, colours: ColourTable, out: Uint32Array): void {
  const { codes, looks, faint } = grid
  for (let i = 0; i < codes.length; i++) {
    const table = faint?.[i] ? colours.faint : colours.plain
    out[i] = isColoured(looks[i]) ? (table[codes[i] as number] as number) : 0
  }
}

/** Opaque where a cell has the look, transparent elsewhere: the stencil a hatch is poured through. */
export function stencil(looks: Uint8Array, look: Look, out: Uint32Array): void {
  for (let i = 0; i < looks.length; i++) out[i] = looks[i] === look ? 0xff00_0000 : 0
}
