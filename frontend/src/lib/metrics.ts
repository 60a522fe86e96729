/** Facts of each metric: name, format and kind of scale. */

import type { Coding } from './codes'
import { MATRIX_METRICS, METRICS, STATISTICS, type Statistic } from './dimensions'
import { strings } from './strings'
import {
  commonDelayUnit,
  formatDelay,
  formatRatio,
  formatSignedDelay,
  formatSignedPercent,
  formatSignedRatio,
  threeDigits,
} from './units'

interface Facts {
  name: string
  /** One sentence for the person who has not met it before. */
  about: string
  scale: 'log' | 'linear' | 'symmetric'
  /** The smallest useful extent of a scale that is not logarithmic. */
  least: number
  hasStatistic: boolean
  /** True when the clock error can exceed the value and must be shown. */
  isClocked: boolean
  format: (value: number | null) => string
}

const FACTS: Record<Coding, Facts> = {
  deviation: {
    name: strings.deviation,
    about: strings.deviationHint,
    scale: 'symmetric',
    least: 20_000,
    hasStatistic: false,
    isClocked: false,
    format: formatSignedDelay,
  },
  one_way_delay: {
    name: strings.oneWayDelay,
    about: strings.oneWayDelayHint,
    scale: 'log',
    least: 1,
    hasStatistic: true,
    isClocked: true,
    format: formatDelay,
  },
  round_trip: {
    name: strings.roundTrip,
    about: strings.roundTripHint,
    scale: 'log',
    least: 1,
    hasStatistic: true,
    isClocked: false,
    format: formatDelay,
  },
  asymmetry: {
    name: strings.asymmetry,
    about: strings.asymmetryHint,
    scale: 'symmetric',
    least: 1_000,
    hasStatistic: true,
    isClocked: true,
    format: formatSignedDelay,
  },
  loss: {
    name: strings.loss,
    about: strings.lossHint,
    scale: 'linear',
    least: 0.001,
    hasStatistic: false,
    isClocked: false,
    format: formatRatio,
  },
  clock_error: {
    name: strings.clockError,
    about: strings.clockErrorHint,
    scale: 'log',
    least: 1,
    hasStatistic: false,
    isClocked: false,
    format: formatDelay,
  },
  jitter: {
    name: strings.jitter,
    about: strings.jitterHint,
    scale: 'log',
    least: 1,
    hasStatistic: true,
    isClocked: false,
    format: formatDelay,
  },
  predicted_loss: {
    name: strings.predictedLoss,
    about: strings.predictedLossHint,
    scale: 'linear',
    least: 0.01,
    hasStatistic: true,
    isClocked: false,
    format: formatRatio,
  },
  difference: {
    name: strings.difference,
    about: strings.differenceHint,
    scale: 'symmetric',
    least: 1_000,
    hasStatistic: true,
    isClocked: false,
    format: formatSignedDelay,
  },
  loss_difference: {
    name: strings.lossDifference,
    about: strings.differenceHint,
    scale: 'symmetric',
    least: 0.001,
    hasStatistic: false,
    isClocked: false,
    format: formatSignedRatio,
  },
  percent: {
    name: strings.percentDifference,
    about: strings.percentDifferenceHint,
    scale: 'symmetric',
    least: 1,
    hasStatistic: true,
    isClocked: false,
    format: formatSignedPercent,
  },
}

export const facts = (metric: Coding): Facts => FACTS[metric]

export const METRIC_OPTIONS = METRICS.map((value) => ({ value, label: FACTS[value].name }))

/** Metrics that every mesh has. The cost to an application is one metric for each application. */
export const MATRIX_METRIC_OPTIONS = MATRIX_METRICS.filter((value) => value !== 'predicted_loss').map((value) => ({
  value,
  label: FACTS[value].name,
}))

export const STATISTIC_OPTIONS = STATISTICS.map((value) => ({ value, label: statisticName(value) }))

/** Return the name of a statistic on every page; "p99.9" is written p999 in addresses. */
export function statisticName(statistic: Statistic): string {
  return statistic === 'p999' ? 'p99.9' : statistic === 'sd' ? strings.sd : statistic
}

/** "One-way delay, p50"; a metric of one number per window has no statistic. */
export function title(metric: Coding, statistic: Statistic): string {
  return FACTS[metric].hasStatistic ? `${FACTS[metric].name}, ${statisticName(statistic)}` : FACTS[metric].name
}

/** Return the label before the number in a sentence: "p50 84.2 µs", "loss 0 %". */
export function measure(metric: Coding, statistic: Statistic): string {
  if (metric === 'one_way_delay') return statisticName(statistic)
  if (metric === 'deviation') return 'p50'
  const name = FACTS[metric].name.toLowerCase()
  return FACTS[metric].hasStatistic ? `${name} ${statisticName(statistic)}` : name
}

/** Tick labels of one scale, in one unit, with three digits, or as many as tell them apart. */
export function tickLabels(metric: Coding, values: number[]): { unit: string; labels: string[] } {
  if (metric === 'loss' || metric === 'loss_difference' || metric === 'predicted_loss') {
    return { unit: '%', labels: distinct(values.map((value) => value * 100)) }
  }
  if (metric === 'percent') return { unit: '%', labels: distinct(values) }
  const { unit, divide } = commonDelayUnit(Math.max(...values.map(Math.abs)))
  return { unit, labels: distinct(values.map(divide)) }
}

const DIGITS_MAX = 9

/** Write values with as few digits as tell them apart: 115.2, 115.4 and 115.6 are not 115, 115 and 116. */
function distinct(values: number[]): string[] {
  const different = new Set(values).size
  for (let digits = 3; digits <= DIGITS_MAX; digits++) {
    const labels = values.map((value) => trim(value, digits))
    if (new Set(labels).size >= different) return labels
  }
  return values.map((value) => trim(value, DIGITS_MAX))
}

function trim(value: number, digits: number): string {
  const size = Math.abs(value)
  const text = digits === 3 ? threeDigits(size) : String(Number(size.toPrecision(digits)))
  return `${value < 0 ? '−' : ''}${text.includes('.') ? text.replace(/\.?0+$/, '') : text}`
}
