import {
  type Delays,
  type Extent,
  type PathClass,
  PROVIDERS,
  PUBLISHED_SOURCE,
  publishedDelays,
} from '~/lib/publishedDelays'
import { formatDelay } from '~/lib/units'
import { pageStyles } from './Page'
import { Records } from './Records'
import { strings } from './strings'

interface Props {
  provider: string
  pathClass: PathClass
  /** One's own delays, each under its name; null where nothing was measured. */
  own: readonly { name: string; delays: Delays | null }[]
}

const PLACES: Record<PathClass, string> = {
  same_zone: strings.sameZone,
  between_zones: strings.betweenZones,
  between_regions: strings.betweenRegions,
  between_providers: strings.betweenProviders,
}

/** Return one delay, or from the smallest to the largest of several. */
function extentWords([low, high]: Extent): string {
  return low === high ? formatDelay(low) : strings.interval(formatDelay(low), formatDelay(high))
}

/** One's own one-way delays over those that were published of the same provider and path class. */
export function ProviderComparison({ provider, pathClass, own }: Props) {
  const published = publishedDelays(provider, pathClass)
  const name = PROVIDERS[provider] ?? provider
  const rows = [...own, { name: strings.published(name), delays: published }]
  const cell = (delays: Delays | null, which: 'p50' | 'p99', isPublished: boolean) =>
    delays ? extentWords(delays[which]) : isPublished ? strings.noPublished : strings.notMeasured
  return (
    <div className={pageStyles.stack}>
      <p className={pageStyles.lead}>{strings.comparedPlaces(name, PLACES[pathClass])}</p>
      <Records
        label={strings.providerComparison}
        rows={rows.map((row, at) => ({ ...row, isPublished: at === own.length }))}
        id={(row) => row.name}
        columns={[
          { title: strings.oneWayDelay, cell: (row) => row.name, as: 'head' },
          { title: 'p50', cell: (row) => cell(row.delays, 'p50', row.isPublished), as: 'number' },
          { title: 'p99', cell: (row) => cell(row.delays, 'p99', row.isPublished), as: 'number' },
        ]}
      />
      <p className={pageStyles.lead}>
        {published
          ? strings.publishedFrom(PUBLISHED_SOURCE, published.count, published.years)
          : strings.noPublishedHint(PLACES[pathClass])}
      </p>
    </div>
  )
}
