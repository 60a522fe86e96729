/** Search parameters, parsed at the edge into types that cannot be wrong. Defaults are left out of the address. */

import { type Change, parseChanges } from './changes'
import type { Clock } from './time'

export const METRICS = ['one_way_delay', 'round_trip', 'asymmetry', 'loss', 'clock_error', 'jitter'] as const
export const STATISTICS = ['min', 'mean', 'p50', 'p90', 'p99', 'p999', 'max', 'sd'] as const
export const GRANULARITIES = ['vm', 'zone'] as const
/** What waits for slow round trips: rounds for the slowest of many, requests hardly for one another. */
export const WAITINGS = ['rounds', 'requests'] as const
export const RANGES = { '15m': 900, '1h': 3_600, '6h': 21_600, '24h': 86_400 } as const
/** Ranges of what is merged or drawn together, seconds back from now. */
export const SPANS = { '5m': 300, ...RANGES, '7d': 604_800, '30d': 2_592_000 } as const
/** What a range is compared with: as long a time so many seconds earlier; `before` is just before. */
export const VERSUS = { before: 0, day: 86_400, week: 604_800 } as const
export const QUESTIONS = ['series', 'distribution', 'variability', 'losses', 'movers', 'spikes'] as const

/** Incidents that are looked at; all that are not over when nothing is said. */
export const SHOWN_INCIDENTS = ['current', 'resolved', 'all'] as const

export type Metric = (typeof METRICS)[number]
export type Statistic = (typeof STATISTICS)[number]
export type Granularity = (typeof GRANULARITIES)[number]
export type Waiting = (typeof WAITINGS)[number]
export type Range = keyof typeof RANGES
export type Span = keyof typeof SPANS
export type Versus = keyof typeof VERSUS
export type Question = (typeof QUESTIONS)[number]
export type ShownIncidents = (typeof SHOWN_INCIDENTS)[number]

/** More than this many lines cannot be told apart. */
export const COMPARED_MAX = 6

export type Raw = Record<string, unknown>

/** What every signed-in page carries: the zone times are written in. */
export interface AppSearch {
  tz?: Clock
}

export interface MatrixSearch {
  by?: Granularity
  metric?: Metric
  statistic?: Statistic
  /** The slowest flow of each path instead of all of them together. */
  flows?: 'slowest'
  /** Fixed ends of the colour scale, in ns or as a ratio: low, high. */
  scale?: string
  /** Zoom: first row, first column, how many are in view. */
  view?: string
  /** The cell under the cursor: row, column. */
  cell?: string
  /** All windows of a range instead of the newest of each path. */
  span?: Span
  /** The end of the range, RFC 3339; now when absent. */
  until?: string
  /** The difference to an earlier range. */
  versus?: Versus
  /** The difference in percent. */
  percent?: boolean
}

export interface IncidentsSearch {
  show?: ShownIncidents
}

export interface RulesSearch {
  /** Id; the first mesh when absent. */
  mesh?: string
}

export interface ExploreSearch {
  show?: Question
  /** Selections of paths, comma-separated: `mesh`, `path:A:B`, `zones:A:B`. */
  of?: string
  span?: Span
  until?: string
  metric?: Metric
  statistic?: Statistic
  versus?: Versus
  by?: Granularity
  interval?: '1h' | '1d'
  /** A spike whose exchanges are shown. */
  spike?: string
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

export interface WhatIfSearch {
  mesh?: string
  changes?: Change[]
  /** Whether VMs are looked for for tasks that wait. */
  place?: boolean
  /** Id of the kept scenario that is open. */
  scenario?: string
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
      flows: oneOf(['slowest'], raw.flows),
      scale: scale && (scale[0] as number) < (scale[1] as number) ? scale.join(',') : undefined,
      view: view && (view[2] as number) >= 1 ? view.join(',') : undefined,
      cell: cell?.every((index) => Number.isInteger(index) && index >= 0) ? cell.join(',') : undefined,
      span: oneOf(Object.keys(SPANS) as Span[], raw.span),
      until: moment(raw.until),
      versus: oneOf(Object.keys(VERSUS) as Versus[], raw.versus),
      percent: raw.percent === true ? true : undefined,
    },
    { by: 'vm', metric: 'one_way_delay', statistic: 'p50' },
  )
}

const SELECTION = /^(mesh|(path|zones):[\w-]{36}:[\w-]{36})$/

/** Selections of an address, each once; the whole mesh when there is none. */
export function selections(of: string | undefined): string[] {
  const found = [...new Set((of ?? '').split(',').filter((one) => SELECTION.test(one)))].slice(0, COMPARED_MAX)
  return found.length > 0 ? found : ['mesh']
}

const moment = (value: unknown) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : undefined

export function exploreSearch(raw: Raw): ExploreSearch {
  const of = typeof raw.of === 'string' ? selections(raw.of).join(',') : 'mesh'
  return chosen<ExploreSearch>(
    {
      show: oneOf(QUESTIONS, raw.show),
      of,
      span: oneOf(Object.keys(SPANS) as Span[], raw.span),
      until: moment(raw.until),
      metric: oneOf(METRICS, raw.metric),
      statistic: oneOf(STATISTICS, raw.statistic),
      versus: oneOf(Object.keys(VERSUS) as Versus[], raw.versus),
      by: oneOf(GRANULARITIES, raw.by),
      interval: oneOf(['1h', '1d'], raw.interval),
      spike: typeof raw.spike === 'string' && /^\d+-\d+-\d+$/.test(raw.spike) ? raw.spike : undefined,
    },
    {
      show: 'series',
      of: 'mesh',
      span: '1h',
      metric: 'one_way_delay',
      statistic: 'p50',
      versus: 'before',
      by: 'vm',
      interval: '1h',
    },
  )
}

/** A range that ends now or at a given time, as the API takes it. */
export function rangeOf(span: Span, until: string | undefined): { from: string; to: string } {
  const end = until ? Date.parse(until) : Date.now()
  return { from: new Date(end - SPANS[span] * 1_000).toISOString(), to: new Date(end).toISOString() }
}

/** The range another one is compared with. */
export function baseOf(
  { from, to }: { from: string; to: string },
  versus: Versus,
): { base_from: string; base_to: string } {
  const [start, end] = [Date.parse(from), Date.parse(to)]
  const shift = versus === 'before' ? end - start : VERSUS[versus] * 1_000
  return { base_from: new Date(start - shift).toISOString(), base_to: new Date(end - shift).toISOString() }
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

export function incidentsSearch(raw: Raw): IncidentsSearch {
  return chosen<IncidentsSearch>({ show: oneOf(SHOWN_INCIDENTS, raw.show) }, { show: 'current' })
}

export function rulesSearch(raw: Raw): RulesSearch {
  return chosen<RulesSearch>({ mesh: word(raw.mesh) })
}

export function recommendationSearch(raw: Raw): RecommendationSearch {
  const moves = number(raw.moves, 0)
  return chosen<RecommendationSearch>({ moves: Number.isInteger(moves) ? moves : undefined })
}

export function whatIfSearch(raw: Raw): WhatIfSearch {
  return chosen<WhatIfSearch>({
    mesh: word(raw.mesh),
    changes: parseChanges(raw.changes),
    place: raw.place === true ? true : undefined,
    scenario: word(raw.scenario),
  })
}

/** Where to go after signing in; only a path of this product is followed, never another origin. */
export function signInSearch(raw: Raw): SignInSearch {
  const next = typeof raw.next === 'string' && /^\/(?![/\\])/.test(raw.next) ? raw.next : undefined
  return chosen<SignInSearch>({ next, ended: raw.ended === true ? true : undefined })
}
