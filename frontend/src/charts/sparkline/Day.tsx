import { Sparkline } from './Sparkline'

interface Props {
  /** The line in words. */
  label: string
  day: { points_at: readonly string[]; performance: readonly (number | null)[]; usual: number | null }
  objective: number | null
}

/** The performance of the last 24 hours as a line, with the objective or, without one, the usual performance. */
export function Day({ label, day: { points_at, performance, usual }, objective }: Props) {
  const times = points_at.map((at) => Date.parse(at))
  return <Sparkline label={label} times={times} values={performance} usual={objective ?? usual} from={0} />
}
