/** Search parameters, parsed at the edge into types that cannot be wrong. Defaults are left out of the address. */

import type { Clock } from './time'

export const METRICS = ['one_way_delay', 'round_trip', 'asymmetry', 'loss', 'clock_error'] as const
export const STATISTICS = ['min', 'mean', 'p50', 'p90', 'p99', 'max'] as const
export const GRANULARITIES = ['vm', 'zone'] as const
/** What waits for slow round trips: rounds for the slowest of many, requests hardly for one another. */
export const WAITINGS = ['rounds', 'requests'] as const
export const RANGES = { '15m': 900, '1h': 3_600, '6h': 21_600, '24h': 86_400 } as const

export type Metric = (typeof METRICS)[number]
export type Statistic = (typeof STATISTICS)[number]
export type Granularity = (typeof GRANULARITIES)[number]
export type Waiting = (typeof WAITINGS)[number]
export type Range = keyof typeof RANGES

export type Raw = Record<string, unknown>

/** What every signed-in page carries: the zone times are written in. */
export interface AppSearch {
  tz?: Clock
}

export interface MatrixSearch {
  by?: Granularity
  metric?: Metric
  statistic?: Statistic
  /** Fixed ends of the colour scale, in ns or as a ratio: low, high. */
  scale?: string
  /** Zoom: first row, first column, how many are in view. */
  view?: string
  /** The cell under the cursor: row, column. */
  cell?: string
}

export interface PathSearch {
  last?: Range
  statistic?: Statistic
}

export interface OnboardingSearch {
  mesh?: string
}

export interface CurvesSearch {
  /** Ids of the curves drawn together, comma-separated. */
  compare?: string
  /** Microseconds added, where they are read. */
  added?: number
}

export interface RecommendationSearch {
  /** How many of its moves are looked at; all when absent. */
  moves?: number
}

export interface CurveSearch {
  /** Version; the newest when absent. */
  number?: number
  added?: number
  /** Round trip of the test bed, in µs; what the curve knows when absent. */
  reference?: number
  waiting?: Waiting
  /** Whose measured round trips count: a mesh, and a pair of its VMs or zones. */
  mesh?: string
  by?: Granularity
  source?: string
  target?: string
}

export interface LearningSearch {
  /** Id of the curve to refresh. */
  curve?: string
}

/** A change of a search; undefined lets go of what was chosen. */
export type Patch<T> = { [K in keyof T]?: T[K] | undefined }

export interface SignInSearch {
  next?: string
  ended?: boolean
}

function oneOf<T extends string>(allowed: readonly T[], value: unknown): T | undefined {
  return allowed.find((candidate) => candidate === value)
}

/** Drops what is absent or the default, so that an address says only what was chosen. */
function chosen<T extends object>(values: { [K in keyof T]: T[K] | undefined }, defaults: Partial<T> = {}): T {
  const entries = Object.entries(values).filter(
    ([key, value]) => value !== undefined && value !== defaults[key as keyof T],
  )
  return Object.fromEntries(entries) as T
}

/** Comma-separated finite numbers of a fixed length, or nothing. */
export function numbers(value: unknown, length: number): number[] | undefined {
  if (typeof value !== 'string') return undefined
  const parts = value.split(',')
  const parsed = parts.map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  return parsed.length === length && parsed.every(Number.isFinite) ? parsed : undefined
}

export function appSearch(raw: Raw): AppSearch {
  return chosen<AppSearch>({ tz: oneOf(['local', 'utc'], raw.tz) }, { tz: 'local' })
}

export function matrixSearch(raw: Raw): MatrixSearch {
  const scale = numbers(raw.scale, 2)
  const view = numbers(raw.view, 3)
  const cell = numbers(raw.cell, 2)
  return chosen<MatrixSearch>(
    {
      by: oneOf(GRANULARITIES, raw.by),
      metric: oneOf(METRICS, raw.metric),
      statistic: oneOf(STATISTICS, raw.statistic),
      scale: scale && (scale[0] as number) < (scale[1] as number) ? scale.join(',') : undefined,
      view: view && (view[2] as number) >= 1 ? view.join(',') : undefined,
      cell: cell?.every((index) => Number.isInteger(index) && index >= 0) ? cell.join(',') : undefined,
    },
    { by: 'vm', metric: 'one_way_delay', statistic: 'p50' },
  )
}

export function pathSearch(raw: Raw): PathSearch {
  return chosen<PathSearch>(
    { last: oneOf(Object.keys(RANGES) as Range[], raw.last), statistic: oneOf(STATISTICS, raw.statistic) },
    { last: '15m', statistic: 'p50' },
  )
}

export function onboardingSearch(raw: Raw): OnboardingSearch {
  return chosen<OnboardingSearch>({ mesh: typeof raw.mesh === 'string' && raw.mesh !== '' ? raw.mesh : undefined })
}

/** More than this many lines cannot be told apart. */
export const COMPARED_MAX = 6

const number = (value: unknown, least: number) => {
  const parsed = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof parsed === 'number' && Number.isFinite(parsed) && parsed >= least ? parsed : undefined
}

const word = (value: unknown) => (typeof value === 'string' && /^[\w-]+$/.test(value) ? value : undefined)

/** Ids in the order they were chosen, each once. */
export function compared(compare: string | undefined): string[] {
  return [...new Set((compare ?? '').split(',').filter((id) => word(id)))].slice(0, COMPARED_MAX)
}

export function curvesSearch(raw: Raw): CurvesSearch {
  const compare = typeof raw.compare === 'string' ? compared(raw.compare).join(',') : ''
  return chosen<CurvesSearch>({ compare: compare || undefined, added: number(raw.added, 0) })
}

export function curveSearch(raw: Raw): CurveSearch {
  const version = number(raw.number, 1)
  return chosen<CurveSearch>(
    {
      number: Number.isInteger(version) ? version : undefined,
      added: number(raw.added, 0),
      reference: number(raw.reference, 0),
      waiting: oneOf(WAITINGS, raw.waiting),
      mesh: word(raw.mesh),
      by: oneOf(GRANULARITIES, raw.by),
      source: word(raw.source),
      target: word(raw.target),
    },
    { by: 'vm' },
  )
}

/** Which curve a new metric source is to refresh. */
export function learningSearch(raw: Raw): LearningSearch {
  return chosen<LearningSearch>({ curve: word(raw.curve) })
}

export function recommendationSearch(raw: Raw): RecommendationSearch {
  const moves = number(raw.moves, 0)
  return chosen<RecommendationSearch>({ moves: Number.isInteger(moves) ? moves : undefined })
}

/** Where to go after signing in; only a path of this product is followed, never another origin. */
export function signInSearch(raw: Raw): SignInSearch {
  const next = typeof raw.next === 'string' && /^\/(?![/\\])/.test(raw.next) ? raw.next : undefined
  return chosen<SignInSearch>({ next, ended: raw.ended === true ? true : undefined })
}
