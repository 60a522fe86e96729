import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { LinkProps } from '@tanstack/react-router'
import { transportQuery } from '~/api/advisors'
import { VM_SPAN, vmHostWaitsQuery } from '~/api/inventory'
import { deviationQuery } from '~/api/measurements'
import { findingsQuery } from '~/api/overview'
import type { Path, TransportQuestion } from '~/api/types'
import { sentenceCase } from '~/lib/text'
import { TextLink } from '~/ui/links'
import { pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { StatusMark } from '~/ui/StatusMark'
import { type Cause, changeCause, findingsOf, hostCause, lossCause, transportCause } from './causes'
import { strings } from './strings'

const MARKS = { found: 'warn', clear: 'good', unknown: 'waiting' } as const
const ORDER = ['found', 'clear', 'unknown']

interface Row {
  /** Name of the check, and the page with its details. */
  name: string
  link: LinkProps
  cause: Cause
}

/** Return the cause in an answer; of a failed request, the reason. None while it loads. */
function causeOf<T>({ data, error }: UseQueryResult<T>, read: (data: T) => Cause): Cause[] {
  if (data !== undefined) return [read(data)]
  return error ? [{ state: 'unknown', words: strings.failed(error.message) }] : []
}

interface Props {
  meshId: string
  source: string
  target: string
  path: Path
}

/** Causes that slow a path: changes, waits of its VMs and findings of advisors, a sentence each. */
export function WhyTab({ meshId, source, target, path }: Props) {
  const [from, to] = [path.source.name, path.target.name]
  const outbound = useQuery(deviationQuery(meshId, 'vm', source, target))
  const inbound = useQuery(deviationQuery(meshId, 'vm', target, source))
  const waits = useQuery(vmHostWaitsQuery(source, {}, VM_SPAN))
  const otherWaits = useQuery(vmHostWaitsQuery(target, {}, VM_SPAN))
  const transport = useQuery(transportQuery({ mesh: meshId, source: from, target: to } as TransportQuestion))
  const findings = useQuery(findingsQuery)

  const pathLink = (source: string, target: string): LinkProps => ({
    to: '/meshes/$meshId/paths/$source/$target',
    params: { meshId, source, target },
  })
  const vmLink = (vmId: string): LinkProps => ({ to: '/vms/$vmId', params: { vmId } })
  const shaping: LinkProps = { to: '/advisors/shaping' }
  const fairness: LinkProps = { to: '/advisors/fairness', search: { mesh: meshId } }
  const row = (name: string, link: LinkProps, causes: Cause[]): Row[] => causes.map((cause) => ({ name, link, cause }))
  const found = findings.data && findingsOf(findings.data, meshId, [from, to])
  const rows = [
    ...row(strings.delayOf(from, to), pathLink(source, target), causeOf(outbound, changeCause)),
    ...row(strings.delayOf(to, from), pathLink(target, source), causeOf(inbound, changeCause)),
    ...row(strings.packetLoss, pathLink(source, target), [lossCause(path)]),
    ...row(strings.hostOf(from), vmLink(source), causeOf(waits, hostCause)),
    ...row(strings.hostOf(to), vmLink(target), causeOf(otherWaits, hostCause)),
    ...(found ?? []).flatMap(({ advisor, about, measurement }) =>
      row(`${strings.advisors[advisor]}: ${about}`, advisor === 'fairness' ? fairness : shaping, [
        { state: 'found', words: `${sentenceCase(measurement)}.` },
      ]),
    ),
    ...(found?.length
      ? []
      : row(
          strings.advisorsOf,
          shaping,
          causeOf(findings, () => ({ state: 'clear', words: strings.noFinding })),
        )),
    ...row(
      strings.transportOf,
      { to: '/advisors/transport', search: { mesh: meshId, source: from, target: to } },
      causeOf(transport, transportCause),
    ),
  ].toSorted((one, other) => ORDER.indexOf(one.cause.state) - ORDER.indexOf(other.cause.state))
  return (
    <>
      <p className={pageStyles.lead}>{rows[0]?.cause.state === 'found' ? strings.lead : strings.nothingFound}</p>
      <Records
        label={strings.whySlow}
        rows={rows}
        id={({ name }) => name}
        columns={[
          {
            title: strings.state,
            cell: ({ cause: { state } }) => <StatusMark status={MARKS[state]}>{strings[state]}</StatusMark>,
          },
          {
            title: strings.lookedAt,
            cell: ({ name, link }) => <TextLink {...link}>{name}</TextLink>,
            as: 'head',
          },
          { title: strings.finding, cell: ({ cause }) => cause.words, as: 'wrap' },
        ]}
      />
    </>
  )
}
