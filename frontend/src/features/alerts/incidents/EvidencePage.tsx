import { Button, Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { evidenceQuery, type SignedEvidence } from '~/api/incidents'
import { formatMoment } from '~/lib/time'
import { formatCount, formatDelay, formatRatio, NO_VALUE } from '~/lib/units'
import { CopyButton } from '~/ui/CopyButton'
import { LoadingPage, Page, Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Failed } from '~/ui/State'
import { SEVERITIES } from '~/ui/severity'
import { strings } from '../strings'
import { EvidencePaths } from './EvidencePaths'
import styles from './evidence.module.css'
import { verdictSentence } from './verdictWords'

type Report = SignedEvidence['report']

/** Times of a report are in UTC, whatever the reader's clock: it is read elsewhere. */
const utc = (at: string) => formatMoment(new Date(at), 'utc')

/** The signed report of an incident, to read, print, copy or download. */
export function EvidencePage({ incidentId }: { incidentId: string }) {
  const { data, error, refetch } = useQuery(evidenceQuery(incidentId))
  if (error && !data) return <Failed what={strings.theEvidence} error={error} retry={() => void refetch()} />
  if (!data) return <LoadingPage title={strings.evidence} what={strings.evidenceLower} />
  const { report, signature } = data
  return (
    <Page
      title={strings.evidenceOf(report.incident.title)}
      lead={
        <span className={styles.screen}>
          {strings.evidenceLead}{' '}
          <Link to="/incidents/$incidentId" params={{ incidentId }}>
            {strings.backToIncident}
          </Link>
        </span>
      }
      action={
        <div className={styles.actions}>
          <CopyButton text={() => JSON.stringify(data, null, 2)}>{strings.copyJson}</CopyButton>
          <Button
            variant="default"
            renderRoot={(root) => (
              <a {...root} href={`/v1/incidents/${incidentId}/evidence`} download={`evidence-${incidentId}.json`} />
            )}
          >
            {strings.downloadJson}
          </Button>
          <Button onClick={() => window.print()}>{strings.print}</Button>
        </div>
      }
    >
      <Summary report={report} />
      <EvidencePaths report={report} />
      {report.spikes.length > 0 && <Spikes report={report} />}
      <Vms report={report} />
      <Method report={report} />
      <Panel title={strings.signature}>
        <p className={pageStyles.lead}>{strings.signatureLead(signature.algorithm, signature.canonicalization)}</p>
        <dl className={styles.signature}>
          <dt>{strings.signatureKey}</dt>
          <dd>
            <Code>{signature.key_id}</Code> {strings.publishedAt} <Code>{report.product.keys_url}</Code>
          </dd>
          <dt>{strings.signatureValue}</dt>
          <dd>
            <Code>{signature.value}</Code>
          </dd>
          <dt>{strings.verifyWith}</dt>
          <dd>
            <Code>{strings.verifyCommand}</Code>
          </dd>
        </dl>
      </Panel>
    </Page>
  )
}

/** Return the figures of the worst window: medians over the affected paths. */
function worstWords(worst: Report['incident']['worst']): string {
  if (!worst) return NO_VALUE
  const words = (value: number | null) =>
    worst.unit === 'ppm' ? formatRatio(value === null ? null : value / 1e6) : formatDelay(value)
  return strings.worstOf(words(worst.value), words(worst.usual), words(worst.limit), utc(worst.window_ended_at))
}

function Summary({
  report: { incident, mesh, during, before, affected_paths: affected, product },
}: {
  report: Report
}) {
  const facts: [string, string][] = [
    [strings.suspect, incident.suspect],
    [strings.applicationOrNetwork, verdictSentence(incident.verdict.kind, incident.suspect)],
    [strings.severity, SEVERITIES[incident.severity].word],
    [strings.started, utc(incident.onset_at)],
    [strings.ended, incident.ended_at ? utc(incident.ended_at) : strings.ongoing],
    [strings.worstWindow, worstWords(incident.worst)],
    [strings.paths, formatCount(affected)],
    [strings.rules, incident.rules.join(', ')],
    [strings.mesh, strings.meshFacts(mesh.name, mesh.vms, mesh.rate_hz, mesh.window_s)],
    [strings.before, strings.range(utc(before.from), utc(before.to))],
    [strings.during, strings.range(utc(during.from), utc(during.to))],
    [strings.measuredBy, `${product.name} ${product.version}`],
    [strings.incidentId, incident.id],
  ]
  return (
    <dl className={pageStyles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Exchanges that are shown of a spike: the largest, and those before and after it. The download has all. */
const SHOWN = 8

type Exchange = Report['spikes'][number]['exchanges'][number]

const largestOf = ({ outbound_ns, inbound_ns }: Exchange) => Math.max(outbound_ns ?? 0, inbound_ns ?? 0)

/** Return the exchanges around the largest one, in order of time. */
function around(exchanges: readonly Exchange[]): Exchange[] {
  const largest = exchanges.reduce((best, one, at) => {
    const before = exchanges[best]
    return before && largestOf(before) >= largestOf(one) ? best : at
  }, 0)
  const first = Math.max(0, Math.min(largest - SHOWN / 2, exchanges.length - SHOWN))
  return exchanges.slice(first, first + SHOWN)
}

function Spikes({ report: { spikes, vms } }: { report: Report }) {
  const nameOf = (id: string) => vms.find((vm) => vm.id === id)?.name ?? id
  return (
    <Panel title={strings.spikes}>
      <p className={pageStyles.lead}>{strings.spikesShown}</p>
      <div className={styles.spikes}>
        {spikes.map(({ source, target, window_started_at: at, max_ns: max, median_ns: median, exchanges }) => (
          <div key={`${at} ${source} ${target}`} className={styles.spike}>
            <p>{strings.spikeLine(nameOf(source), nameOf(target), utc(at), formatDelay(max), formatDelay(median))}</p>
            <Records
              label={strings.exchangesOf(nameOf(source), nameOf(target), utc(at))}
              rows={around(exchanges)}
              id={(exchange) => exchange.at_ns}
              columns={[
                { title: strings.inWindow, cell: ({ at_ns }) => formatDelay(at_ns), as: 'head' },
                { title: strings.outbound, cell: ({ outbound_ns }) => formatDelay(outbound_ns), as: 'number' },
                { title: strings.inbound, cell: ({ inbound_ns }) => formatDelay(inbound_ns), as: 'number' },
              ]}
            />
          </div>
        ))}
      </div>
    </Panel>
  )
}

function Vms({ report: { vms } }: { report: Report }) {
  return (
    <Panel title={strings.vms}>
      <Records
        label={strings.vms}
        rows={vms}
        id={(vm) => vm.id}
        columns={[
          { title: strings.vm, cell: (vm) => vm.name, as: 'head' },
          { title: strings.address, cell: (vm) => vm.address },
          { title: strings.provider, cell: ({ zone }) => zone.provider },
          { title: strings.region, cell: ({ zone }) => zone.region },
          { title: strings.zone, cell: ({ zone }) => zone.name },
          { title: strings.physicalId, cell: ({ zone }) => zone.physical_id },
        ]}
      />
    </Panel>
  )
}

function Method({ report: { method } }: { report: Report }) {
  return (
    <Panel title={strings.method}>
      <div className={styles.method}>
        <p>{method.summary}</p>
        <p>{method.clocks}</p>
        <p>{method.statistics}</p>
        <ul className={pageStyles.bullets}>
          {method.standards.map((standard) => (
            <li key={standard}>{standard}</li>
          ))}
        </ul>
      </div>
    </Panel>
  )
}
