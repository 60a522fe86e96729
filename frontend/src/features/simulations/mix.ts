/** Part of a mix: a curve by id, and its weight as typed. */
export interface Share {
  curve: string
  weight: string
}

/** The mix of the source (UCAM-CL-TR-937, section 6.3). */
export const PUBLISHED_MIX: Share[] = [
  { curve: 'memcached-server', weight: '50' },
  { curve: 'strads-lasso', weight: '25' },
  { curve: 'tensorflow-mnist', weight: '25' },
]

/** Return the weights by curve, without those that are 0; the server scales them to the sum of 1. */
export function weightsOf(mix: readonly Share[]): Record<string, number> {
  return Object.fromEntries(mix.map(({ curve, weight }) => [curve, Number(weight)] as const).filter(([, w]) => w > 0))
}
