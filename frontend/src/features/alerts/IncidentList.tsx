import { useQueries } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { serverNow } from '~/api/connection'
import { lastHoursQuery } from '~/api/explore'
import type { IncidentSummary } from '~/api/incidents'
import { Sparkline } from '~/charts/sparkline/Sparkline'
import { sentenceCase } from '~/lib/text'
import { timeOf } from '~/lib/time'
import { formatCount, NO_VALUE } from '~/lib/units'
import { Age } from '~/ui/Age'
import type { Bulk } from '~/ui/BulkBar'
import { useClock } from '~/ui/clock'
import { TextLink } from '~/ui/links'
import { RecordList } from '~/ui/RecordList'
import { Records } from '~/ui/Records'
import { rankOf, SEVERITIES } from '~/ui/severity'
import { stateWords } from './incidentWords'
import { strings } from './strings'

interface Props {
  label: string
  incidents: IncidentSummary[]
  /** The list of the page: search, order and page are in the address. */
  isPage?: boolean
  /** Actions on several incidents of the page. */
  bulk?: Bulk<IncidentSummary> | false
}

/** Incidents, newest first. */
export function IncidentList({ label, incidents, isPage = false, bulk = false }: Props) {
  const clock = useClock()
  const lastHours = useLastHours(isPage ? incidents : NONE)
  const Table = isPage ? RecordList<IncidentSummary> : Records<IncidentSummary>
  return (
    <Table
      {...(isPage ? { bulk } : {})}
      label={label}
      rows={incidents}
      id={(incident) => incident.id}
      columns={[
        {
          title: strings.incident,
          cell: (incident) => (
            <TextLink to="/incidents/$incidentId" params={{ incidentId: incident.id }}>
              {sentenceCase(incident.title)}
            </TextLink>
          ),
          as: 'head',
          by: { key: 'title', value: (incident) => incident.title },
        },
        {
          title: strings.severity,
          cell: (incident) => SEVERITIES[incident.severity].word,
          by: {
            key: 'severity',
            value: (incident) => rankOf(incident.severity),
            filter: (incident) => [SEVERITIES[incident.severity].word],
          },
        },
        { title: strings.state, cell: stateWords, by: { key: 'state', value: stateWords } },
        {
          title: strings.mesh,
          cell: (incident) => incident.mesh.name,
          by: { key: 'mesh', value: (incident) => incident.mesh.name, filter: true },
        },
        {
          title: strings.paths,
          // An incident about an application has no paths of its own.
          cell: (incident) => (incident.paths > 0 ? formatCount(incident.paths) : NO_VALUE),
          as: 'number',
          by: { key: 'paths', value: (incident) => incident.paths },
        },
        {
          title: strings.timesSeen,
          cell: (incident) => formatCount(incident.recurrence?.times ?? 1),
          as: 'number',
          by: { key: 'times', value: (incident) => incident.recurrence?.times ?? 1 },
        },
        ...(lastHours.size > 0
          ? [{ title: strings.lastHourColumn, cell: (incident: IncidentSummary) => lastHours.get(incident.id) }]
          : []),
        {
          title: strings.started,
          cell: (incident) => <Age at={incident.onset_at} clock={clock} now={serverNow} />,
          by: { key: 'started', value: (incident) => timeOf(incident.onset_at) },
        },
        {
          title: strings.ended,
          cell: (incident) =>
            incident.ended_at ? <Age at={incident.ended_at} clock={clock} now={serverNow} /> : strings.ongoing,
          by: { key: 'ended', value: (incident) => timeOf(incident.ended_at) },
        },
        ...(incidents.some(({ assignee }) => assignee)
          ? [
              {
                title: strings.assignee,
                as: 'quiet' as const,
                by: { key: 'assignee', value: ({ assignee }: IncidentSummary) => assignee },
              },
            ]
          : []),
      ]}
    />
  )
}

const NONE: IncidentSummary[] = []

/** The last hour of the worst path of each unresolved incident, as a small line by its id: one request a mesh. */
function useLastHours(incidents: IncidentSummary[]): Map<string, ReactNode> {
  const asked = incidents.flatMap(({ id, state, mesh, worst_path: path }) =>
    path && state !== 'resolved'
      ? [{ id, meshId: mesh.id, path, selection: `path:${path.source.id}:${path.target.id}` }]
      : [],
  )
  const meshes = [...new Set(asked.map(({ meshId }) => meshId))]
  const selectionsOf = (id: string) => asked.filter(({ meshId }) => meshId === id).map(({ selection }) => selection)
  const answers = useQueries({ queries: meshes.map((id) => lastHoursQuery(id, [...new Set(selectionsOf(id))].sort())) })
  const lines = asked.flatMap(({ id, meshId, path, selection }): [string, ReactNode][] => {
    const series = answers[meshes.indexOf(meshId)]?.data
    const item = series?.items.find((one) => one.selection === selection)
    if (!series || !item) return []
    const { metric, statistic, source, target, usual } = path
    const isLoss = metric === 'loss'
    const props = {
      label: strings.lastHourOf(source.name, target.name, isLoss),
      times: series.points_at.map((at) => Date.parse(at)),
      values: isLoss ? item.loss : (item.values[statistic] ?? item.values.p50 ?? []),
      usual: isLoss || metric === 'one_way_delay' ? usual : null,
    }
    return [[id, <Sparkline key={id} {...props} />]]
  })
  return new Map(lines)
}
