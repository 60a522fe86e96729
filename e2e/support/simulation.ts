/** A report of a simulation, as `sinemora simulate` uploads it. */

const seconds = { p50: 0.002, p90: 0.01, p99: 0.2 }
/** 101 values from the lowest to the highest, evenly on a logarithmic scale. */
const rising = (low: number, high: number) => Array.from({ length: 101 }, (_, at) => low * (high / low) ** (at / 100))
const policy = (name: string, worst: number, moves: boolean) => ({
  policy: name,
  jobs: 40,
  area_percent: 50 * (1 + worst),
  source_percent: name === 'random' ? 47.2 : null,
  worst_job: worst,
  solver_s: seconds,
  round_s: moves ? seconds : null,
  placement_latency_s: seconds,
  response_s: { p50: 600, p90: 4_812, p99: 10_800 },
  moved_share_mean: moves ? 0.0093 : 0,
  moved_share: moves ? { p50: 0.009, p90: 0.01, p99: 0.02 } : null,
  distributions: {
    solver_s: rising(0.001, 0.3),
    round_s: moves ? rising(0.002, 1.2) : [],
    moved_share: moves ? rising(0.002, 0.02) : [],
    placement_latency_s: rising(0.001, 60),
    response_s: rising(16, 10_800),
  },
  scores: Array.from({ length: 101 }, (_, at) => worst + ((1 - worst) * at) / 100),
})
export const world = {
  machines: 192,
  slots: 14,
  rack_size: 48,
  pod_racks: 16,
  seconds: 3_600,
  step_s: 60,
  round_s: 600,
  window_s: 10,
  history_s: 7_200,
  noise: 0.15,
  move_cost: 0.01,
  moves_max: null,
  move_price: null,
  mix: { 'memcached-server': 0.5, 'strads-lasso': 0.25, 'tensorflow-mnist': 0.25 },
  nomora: { p_m: 105, p_r: 110, omega: 0, gamma: 1001, beta: 0, aggregate: true },
  preemption: false,
  start_at_random: false,
  seed: 1,
  trace: 'google2011',
  latency: null,
  statistics: null,
}

export const policies = [policy('random', 0.25, false), policy('best', 0.5, true)]
