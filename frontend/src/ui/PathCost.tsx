import { formatPoints } from '~/lib/performance'
import { TextLink } from './links'
import { strings } from './strings'

/** A smaller cost is no cost. */
const LEAST = 0.0005

interface Props {
  /** Id, name and lost share of performance of the application. */
  cost: { id: string; name: string; cost: number | null } | null | undefined
  /** The cost is of the paths of a pair of zones. */
  ofPair?: boolean
  /** Shown when no application loses performance. */
  none?: string
}

/** The application that loses most performance on a path; `none` when none loses any. */
export function PathCost({ cost, ofPair = false, none }: Props) {
  if (cost?.cost == null || cost.cost < LEAST) return none
  const points = formatPoints(cost.cost)
  return (
    <TextLink
      size="md"
      fz="inherit"
      title={(ofPair ? strings.costOfPair : strings.costOfPath)(cost.name, points)}
      to="/applications/$applicationId"
      params={{ applicationId: cost.id }}
    >
      {strings.applicationLoses(cost.name, points)}
    </TextLink>
  )
}
