import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { connectionTimeoutsQuery, fairnessQuery, transportQuery } from '~/api/advisors'
import { pathApplicationsQuery } from '~/api/applications'
import { tokenBucketQuery, VM_SPAN, vmHostWaitsQuery } from '~/api/inventory'
import { deviationQuery } from '~/api/measurements'
import type { Path } from '~/api/types'
import { formatPoints } from '~/lib/performance'
import { sentenceCase } from '~/lib/text'
import { TextLink } from '~/ui/links'
import { pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { StatusMark } from '~/ui/StatusMark'
import { usePathIncidents } from '../pathIncidents'
import styles from '../paths.module.css'
import {
  bucketCause,
  type Cause,
  changeCause,
  fairnessCause,
  hostCause,
  lossCause,
  timeoutCause,
  transportCause,
} from './causes'
import { strings } from './strings'

interface Row {
  /** What was looked at, as a link to all of it. */
  link: ReactNode
  name: string
  /** Undefined while it loads. */
  cause: Cause | undefined
}

const MARKS = { found: 'warn', clear: 'good', unknown: 'waiting' } as const
const ORDER = ['found', 'clear', 'unknown']

/** Return the cause in an answer; of a failed request, the reason. */
function causeOf<T>({ data, error }: UseQueryResult<T>, read: (data: T) => Cause): Cause | undefined {
  if (data !== undefined) return read(data)
  return error ? { state: 'unknown', words: strings.failed(error.message) } : undefined
}

interface Props {
  meshId: string
  source: string
  target: string
  path: Path
}

/** What slows a path: all that the product knows about it, in a sentence each. */
export function WhyTab({ meshId, source, target, path }: Props) {
  const incidents = usePathIncidents(meshId, source, target)
  const outbound = useQuery(deviationQuery(meshId, 'vm', source, target))
  const inbound = useQuery(deviationQuery(meshId, 'vm', target, source))
  const waits = [useQuery(vmHostWaitsQuery(source, {}, VM_SPAN)), useQuery(vmHostWaitsQuery(target, {}, VM_SPAN))]
  const buckets = [useQuery(tokenBucketQuery(source)), useQuery(tokenBucketQuery(target))]
  const fairness = useQuery(fairnessQuery(meshId, { of: 'vms', minutes: 60, source: undefined, target: undefined }))
  const timeouts = useQuery(connectionTimeoutsQuery(meshId))
  const ends = { mesh: meshId, source: path.source.name, target: path.target.name }
  const transport = useQuery(transportQuery(ends as Parameters<typeof transportQuery>[0]))
  const applications = useQuery(pathApplicationsQuery(meshId, source, target))

  const onPath = (name: string, from = source, to = target) => (
    <TextLink
      size="sm"
      to="/meshes/$meshId/paths/$source/$target"
      params={{ meshId, source: from, target: to }}
      search={{}}
    >
      {name}
    </TextLink>
  )
  const ofVm = (at: number, name: string) => (
    <TextLink size="sm" to="/vms/$vmId" params={{ vmId: at === 0 ? source : target }}>
      {name}
    </TextLink>
  )
  const there = strings.changeOf(`${ends.source} → ${ends.target}`)
  const back = strings.changeOf(`${ends.target} → ${ends.source}`)
  const names = [ends.source, ends.target] as const
  const open = incidents.data?.filter(({ state }) => state !== 'resolved')
  const worst = applications.data?.items[0]
  const rows: Row[] = [
    { name: there, link: onPath(there), cause: causeOf(outbound, changeCause) },
    { name: back, link: onPath(back, target, source), cause: causeOf(inbound, changeCause) },
    { name: strings.lossOf, link: onPath(strings.lossOf), cause: lossCause(path) },
    {
      name: strings.openIncidents,
      link: open?.[0] ? (
        <TextLink size="sm" to="/incidents/$incidentId" params={{ incidentId: open[0].id }}>
          {strings.openIncidents}
        </TextLink>
      ) : (
        <TextLink size="sm" to="/incidents">
          {strings.openIncidents}
        </TextLink>
      ),
      cause: open && {
        state: open.length > 0 ? 'found' : 'clear',
        words: open.length > 0 ? `${open.map(({ title }) => sentenceCase(title)).join('; ')}.` : strings.noIncidents,
      },
    },
    ...waits.map((query, at) => {
      const name = strings.hostOf(names[at] as string)
      return { name, link: ofVm(at, name), cause: causeOf(query, hostCause) }
    }),
    ...buckets.map((query, at) => {
      const name = strings.bucketOf(names[at] as string)
      return { name, link: ofVm(at, name), cause: causeOf(query, bucketCause) }
    }),
    {
      name: strings.retransmissionsOf,
      link: (
        <TextLink size="sm" to="/advisors/shaping">
          {strings.retransmissionsOf}
        </TextLink>
      ),
      cause: causeOf(timeouts, (data) => timeoutCause(data, source, target)),
    },
    {
      name: strings.fairnessOf,
      link: (
        <TextLink size="sm" to="/advisors/fairness" search={{ mesh: meshId }}>
          {strings.fairnessOf}
        </TextLink>
      ),
      cause: causeOf(fairness, fairnessCause),
    },
    {
      name: strings.transportOf,
      link: (
        <TextLink size="sm" to="/advisors/transport" search={ends}>
          {strings.transportOf}
        </TextLink>
      ),
      cause: causeOf(transport, transportCause),
    },
    {
      name: strings.costOf,
      link: worst ? (
        <TextLink size="sm" to="/applications/$applicationId" params={{ applicationId: worst.id }}>
          {strings.costOf}
        </TextLink>
      ) : (
        strings.costOf
      ),
      cause: causeOf(applications, () =>
        worst?.cost
          ? { state: 'found', words: strings.costs(worst.name, formatPoints(worst.cost)) }
          : { state: 'clear', words: strings.noCost },
      ),
    },
  ]
  const rank = ({ cause }: Row) => (cause ? ORDER.indexOf(cause.state) : ORDER.length)
  const isKnown = rows.every(({ cause }) => cause)
  return (
    <section className={styles.newest}>
      <h2>{strings.title}</h2>
      <p className={pageStyles.lead}>
        {isKnown && !rows.some(({ cause }) => cause?.state === 'found') ? strings.nothingFound : strings.lead}
      </p>
      <Records
        label={strings.title}
        rows={rows.toSorted((one, other) => rank(one) - rank(other))}
        id={({ name }) => name}
        columns={[
          {
            title: strings.state,
            cell: ({ cause }) =>
              cause ? <StatusMark status={MARKS[cause.state]}>{strings[cause.state]}</StatusMark> : strings.loading,
          },
          { title: strings.lookedAt, cell: ({ link }) => link, as: 'head' },
          { title: strings.finding, cell: ({ cause }) => cause?.words, as: 'wrap' },
        ]}
      />
    </section>
  )
}
