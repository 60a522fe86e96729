import type { Incident } from '~/api/incidents'
import { title } from '~/lib/metrics'
import { TextLink } from '~/ui/links'
import { Records } from '~/ui/Records'
import { strings } from '../strings'
import { changeWords, linkTime, valueWords } from './impactWords'

/** The affected paths with the largest change, each a link. */
export function WorstPaths({ incident }: { incident: Incident }) {
  const { mesh } = incident
  const { impact } = incident.evidence
  if (!impact) return null
  const { metric, statistic, worst, kind } = impact
  return (
    <Records
      label={strings.worstPaths}
      rows={worst}
      id={({ source, target }) => `${source.id} ${target.id}`}
      columns={[
        {
          title: strings.path,
          cell: ({ source, target }) => (
            <TextLink
              to="/meshes/$meshId/paths/$source/$target"
              params={{ meshId: mesh.id, source: source.id, target: target.id }}
              search={linkTime(incident)}
            >
              {strings.pathName(source.name, target.name)}
            </TextLink>
          ),
          as: 'head',
        },
        {
          title: kind === 'spike' ? strings.median : strings.usual,
          term: kind === 'spike' ? 'p50' : 'usual value',
          cell: ({ usual }) => valueWords(metric, usual),
          as: 'number',
        },
        { title: title(metric, statistic), cell: ({ value }) => valueWords(metric, value), as: 'number' },
        {
          title: strings.change,
          term: 'change from usual',
          cell: ({ value, usual }) => changeWords(metric, value, usual),
          as: 'number',
        },
      ]}
    />
  )
}
