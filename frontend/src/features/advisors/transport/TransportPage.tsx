import { Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { transportQuery } from '~/api/advisors'
import { meshesQuery, rosterQuery } from '~/api/meshes'
import type { Transport } from '~/api/types'
import { labelled, named } from '~/lib/options'
import type { Patch } from '~/lib/searchParams'
import { type Clock, formatMoment } from '~/lib/time'
import { formatDelay, formatRatio, threeDigits } from '~/lib/units'
import { Choice } from '~/ui/Choice'
import { useClock } from '~/ui/clock'
import { LiveNumber } from '~/ui/LiveNumber'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { Notice } from '~/ui/State'
import styles from '../advisors.module.css'
import { BulkRun, EarlierRuns } from './BulkRun'
import { CONSTRAINTS, ECN, PATTERNS, requestOf, type TransportSearch } from './question'
import { strings } from './strings'
import { NoPathToTry, TryTransport } from './TryTransport'

interface Props {
  search: TransportSearch
  onSearch: (patch: Patch<TransportSearch>) => void
}

/** The transport that rules choose from measurements and constraints. */
export function TransportPage({ search, onSearch }: Props) {
  const meshes = useQuery(meshesQuery)
  const mesh = meshes.data?.find(({ id }) => id === search.mesh)
  const roster = useQuery({ ...rosterQuery(mesh?.id ?? ''), enabled: mesh !== undefined })
  const vms = roster.data?.vms.map(({ name }) => name) ?? []
  const query = useQuery(transportQuery(requestOf(search)))
  const onRun = (run: string) => onSearch({ run })
  const number = (
    field: 'fan_in' | 'volume_ratio' | 'interfaces' | 'transfer_percent',
    label: string,
    first: number,
  ) => (
    <LiveNumber
      label={label}
      number={search[field] ?? first}
      min={field === 'transfer_percent' ? 0 : 1}
      max={field === 'transfer_percent' ? 100 : undefined}
      step="any"
      w={230}
      onNumber={(value) => onSearch({ [field]: value })}
    />
  )
  const end = (field: 'source' | 'target', label: string) => (
    <Choice
      label={label}
      value={search[field] ?? ''}
      none={strings.none}
      data={vms}
      onChange={(value) => onSearch({ [field]: value || undefined })}
    />
  )
  return (
    <Page title={strings.transport} lead={strings.transportLead}>
      <Panel title={strings.path}>
        <div className={pageStyles.form}>
          <Choice
            label={strings.mesh}
            value={mesh?.id ?? ''}
            none={strings.anyPath}
            data={named(meshes.data)}
            onChange={(value) => onSearch({ mesh: value || undefined, source: undefined, target: undefined })}
          />
          {mesh && end('source', strings.from)}
          {mesh && end('target', strings.to)}
        </div>
      </Panel>
      <Panel title={strings.transfer}>
        <div className={pageStyles.form}>
          <Choice
            label={strings.pattern}
            value={search.pattern ?? 'one_to_one'}
            data={labelled(strings.patterns, PATTERNS)}
            onChange={(pattern) => onSearch({ pattern })}
          />
          {number('fan_in', strings.fanIn, 1)}
          {number('volume_ratio', strings.volumeRatio, 1)}
          {number('transfer_percent', strings.transferPercent, 50)}
          <Choice
            label={strings.ecn}
            value={search.ecn ?? ''}
            none={strings.ecnUnknown}
            data={labelled(strings.ecns, ECN)}
            onChange={(value) => onSearch({ ecn: (value || undefined) as TransportSearch['ecn'] })}
          />
          {number('interfaces', strings.interfaces, 1)}
        </div>
      </Panel>
      <Panel title={strings.constraints}>
        <div className={pageStyles.form}>
          {CONSTRAINTS.map((constraint) => (
            <Checkbox
              key={constraint}
              label={strings.constraintNames[constraint]}
              checked={search[constraint] ?? false}
              onChange={({ currentTarget }) => onSearch({ [constraint]: currentTarget.checked || undefined })}
            />
          ))}
        </div>
      </Panel>
      <QueryResult query={query} what={strings.transportLower}>
        {(found) => <Advice found={found} />}
      </QueryResult>
      {mesh && search.source && search.target && search.source !== search.target ? (
        <TryTransport
          key={`${mesh.id} ${search.source} ${search.target}`}
          mesh={mesh.id}
          source={search.source}
          target={search.target}
          onRun={onRun}
        />
      ) : (
        <NoPathToTry />
      )}
      {search.run && <BulkRun runId={search.run} />}
      {mesh && <EarlierRuns mesh={mesh.id} onRun={onRun} />}
    </Page>
  )
}

function Advice({ found }: { found: Transport }) {
  const clock = useClock()
  return (
    <div className={styles.results}>
      <Panel title={strings.advice}>
        {found.fired
          .filter(({ overridden_by }) => overridden_by === null)
          .map((fired) => (
            <Notice key={fired.rule} tone="info" title={`${strings.parts[fired.part]}: ${fired.choice}`}>
              {strings.because(fired.rule, fired.measurement)}{' '}
              {fired.transfer_saved
                ? strings.job(threeDigits(100 * fired.transfer_saved), threeDigits(100 * (fired.job_saved ?? 0)))
                : ''}{' '}
              {strings.effect(fired.effect)} {fired.is_available === false ? strings.unavailable : ''}
            </Notice>
          ))}
        <p className={pageStyles.lead}>{evidenceWords(found)}</p>
        {found.evidence.measured.length > 0 && <p className={pageStyles.lead}>{probeWords(found, clock)}</p>}
        <p className={pageStyles.lead}>{strings.source(found.source)}</p>
      </Panel>
      <Panel title={strings.rules}>
        <Records
          label={strings.rules}
          rows={found.fired}
          id={({ rule }) => rule}
          columns={[
            { title: strings.rule, cell: ({ rule }) => rule, as: 'head' },
            { title: strings.condition, cell: ({ condition }) => condition, as: 'wrap' },
            { title: strings.measurement, cell: ({ measurement }) => measurement, as: 'wrap' },
            { title: strings.choice, cell: ({ choice }) => choice, as: 'wrap' },
            {
              title: strings.outcome,
              cell: ({ overridden_by: by }) => (by === null ? strings.wins : strings.overridden(by)),
            },
          ]}
        />
      </Panel>
    </div>
  )
}

function probeWords({ evidence: { probed_at } }: Transport, clock: Clock): string {
  return probed_at === null ? strings.unprobed : strings.probedAt(formatMoment(new Date(probed_at), clock))
}

function evidenceWords({ evidence }: Transport): string {
  const words = [
    evidence.round_trip_us !== null && strings.roundTrip(formatDelay(1e3 * evidence.round_trip_us)),
    evidence.min_round_trip_us !== null && strings.minRoundTrip(formatDelay(1e3 * evidence.min_round_trip_us)),
    evidence.loss !== null && strings.loss(formatRatio(evidence.loss)),
    evidence.routes !== null && strings.routes(String(evidence.routes)),
    evidence.same_host !== null && strings.sameHost(evidence.same_host),
    evidence.ecn !== null && evidence.measured.includes('ecn') && strings.ecnOf[evidence.ecn],
    evidence.reordering !== null && strings.reordering(formatRatio(evidence.reordering)),
  ].filter((word) => word !== false)
  return evidence.measured.length > 0 ? strings.measured(words.join(', ')) : strings.nothingMeasured
}
