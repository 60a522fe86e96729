/** Dimensions of a query: metric, statistic and granularity. */

export const METRICS = ['one_way_delay', 'round_trip', 'asymmetry', 'loss', 'clock_error', 'jitter'] as const
/** Metrics of a heatmap: the change of one-way delay from usual, those of a query, and the cost to an application. */
export const MATRIX_METRICS = ['deviation', ...METRICS, 'predicted_loss'] as const
export const STATISTICS = ['min', 'mean', 'p50', 'p90', 'p99', 'p999', 'max', 'sd'] as const
export const GRANULARITIES = ['vm', 'zone'] as const

export type Metric = (typeof METRICS)[number]
export type MatrixMetric = (typeof MATRIX_METRICS)[number]
export type Statistic = (typeof STATISTICS)[number]
export type Granularity = (typeof GRANULARITIES)[number]
