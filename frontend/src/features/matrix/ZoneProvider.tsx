import { useQuery } from '@tanstack/react-query'
import { classDelaysQuery } from '~/api/pathClasses'
import { ProviderComparison } from '~/ui/ProviderComparison'
import { strings } from './strings'

/** The last 7 days of a zone pair over those of pairs of the same class, one's own and published ones. */
export function ZoneProvider({ meshId, source, target }: { meshId: string; source: string; target: string }) {
  const { data } = useQuery(classDelaysQuery(meshId, source, target))
  if (!data) return null
  return (
    <ProviderComparison
      provider={data.provider}
      pathClass={data.pathClass}
      own={[
        { name: strings.thisPairWeek, delays: data.pair },
        { name: strings.alikeWeek(data.alike?.count ?? 0), delays: data.alike },
      ]}
    />
  )
}
