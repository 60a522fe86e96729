/** Stands for `charts/series/SeriesChart` in tests of components: jsdom has no canvas. */

import type { Limit } from '~/charts/series/spans'

interface Props {
  label: string
  limits?: readonly Limit[]
}

export const SeriesChart = ({ label, limits = [] }: Props) => (
  <span role="img" aria-label={label} data-limits={limits.map(({ value }) => value).join()} />
)
