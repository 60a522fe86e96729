/** Rows and columns of a heatmap: their names, their headings, and the room for both. */

import { shortened } from './labels'

/** Consecutive rows or columns under one heading. */
export interface Group {
  id: string
  name: string
  first: number
  count: number
  /** The whole heading in words; `name` when absent. */
  title?: string
  /** True when the group is one row or column; undefined when it cannot be. */
  isClosed?: boolean
}

export interface Axis {
  title: string
  labels: string[]
  /** A label in words; the label when absent. */
  titles?: string[]
  /** Headings, such as zones; several levels stand side by side, the widest groups first. */
  groups: Group[][]
}

export interface AxisPair {
  rows: Axis
  columns: Axis
}

/** Headings of one level: `thickness` in pixels; `across` when each is written across its group, not along it. */
export interface Band {
  texts: string[]
  offset: number
  thickness: number
  across: boolean
}

/** The room of one axis. */
export interface Gutter {
  bands: Band[]
  /** Of the bands together. */
  depth: number
  /** Bands and labels. */
  size: number
  /** Shortened names; null without room for a name at each row or column. */
  labels: string[] | null
}

export interface Gutters {
  left: Gutter
  top: Gutter
}

export interface Extent {
  width: number
  height: number
}

const BAND = 20
const BAND_SPACE = 1
const BAND_GAP = 5
const CHARACTER = 7.2
/** Of the smaller type of headings. */
const HEADING_CHARACTER = 6.2
/** A lower row has no room for its name. */
const LEAST_LABELLED = 12
/** A lower group has no room for a heading across it. */
const LEAST_HEADED = 12
/** In characters. */
const LONGEST_HEADING = 14
const LONGEST_LABEL = 19
/** A heading cut to fewer characters is better written across its group. */
const LEAST_READABLE = 8
/** Room without labels: for the title of the axis. */
const LEAST: Record<keyof Gutters, number> = { left: 48, top: 32 }
/** Share of the width or height that labels may take. */
const MOST = 0.42

const longestOf = (names: readonly string[]) => names.reduce((most, name) => Math.max(most, name.length), 0)

/** Return the headings of one level along their groups if all can be read there, otherwise across them. */
function bandOf(groups: readonly Group[], cell: number, offset: number, longest: number): Band {
  const names = groups.map(({ name }) => name)
  const least = groups.reduce((most, { count }) => Math.min(most, count), Number.POSITIVE_INFINITY) * cell
  const most = Math.floor((least - 6) / HEADING_CHARACTER)
  const along = shortened(names, most)
  const across =
    longest > 0 && (!along || (most < LEAST_READABLE && most < longestOf(names))) ? shortened(names, longest) : null
  if (along && !across) return { texts: along, offset, thickness: BAND, across: false }
  const thickness = across ? Math.max(BAND, Math.ceil(longestOf(across) * HEADING_CHARACTER) + 8) : BAND
  return { texts: across ?? names.map(() => ''), offset, thickness, across: across !== null }
}

function gutterOf(axis: Axis, cell: number, least: number, longestHeading: number, longestLabel: number): Gutter {
  const bands: Band[] = []
  let depth = 0
  for (const groups of axis.groups) {
    const band = bandOf(groups, cell, depth, longestHeading)
    bands.push(band)
    depth += band.thickness + BAND_SPACE
  }
  if (bands.length > 0) depth += BAND_GAP
  const labels = longestLabel > 0 ? shortened(axis.labels, longestLabel) : null
  const room = labels ? Math.ceil(longestOf(labels) * CHARACTER) + 8 : 0
  return { bands, depth, size: depth + Math.max(least, room), labels }
}

/** Return true when a group is long enough for its heading. */
export const isHeaded = ({ across }: Band, length: number) => !across || length >= LEAST_HEADED

/** The longest heading across a group and the longest label, in characters: the best first. */
const CHOICES = [
  [LONGEST_HEADING, LONGEST_LABEL],
  [LONGEST_HEADING, 2 * LONGEST_LABEL],
  [LONGEST_HEADING, 12],
  [8, 10],
  [0, 10],
  [0, 7],
  [LONGEST_HEADING, 0],
  [10, 0],
  [8, 0],
  [0, 0],
] as const

function bestGutter(axis: Axis, cell: number, least: number, most: number): Gutter {
  let room: Gutter | undefined
  for (const [heading, label] of CHOICES) {
    if (label > 0 && cell < LEAST_LABELLED) continue
    room = gutterOf(axis, cell, least, heading, label)
    if (room.size <= most && (room.labels !== null || label === 0)) return room
  }
  return room as Gutter
}

/** Of both axes together, before it is known. */
const TYPICAL = 170

/** Return the room for labels when `count` rows and columns are in view of an area of `extent` CSS pixels. */
export function gutters({ rows, columns }: AxisPair, count: number, { width, height }: Extent): Gutters {
  const at = (cell: number): Gutters => ({
    left: bestGutter(rows, cell, LEAST.left, Math.max(LEAST.left, width * MOST)),
    top: bestGutter(columns, cell, LEAST.top, Math.max(LEAST.top, height * MOST)),
  })
  // The room decides the size of a cell, and that which names fit: the second guess is close enough.
  const first = at(Math.max(SMALLEST, Math.min(width, height) - TYPICAL) / count)
  return at(sideOf(first, { width, height }, count) / count)
}

/** The picture is never smaller, in CSS pixels. */
const SMALLEST = 160
const LARGEST_CELL = 104

/** Return the side of the largest square of `size`×`size` cells next to the labels: whole pixels a cell for few cells. */
export function sideOf({ left, top }: Gutters, { width, height }: Extent, size: number): number {
  const room = Math.max(SMALLEST, Math.min(width - left.size, height - top.size))
  return Math.max(0, size <= 100 ? Math.min(Math.floor(room / size), LARGEST_CELL) * size : Math.floor(room))
}
