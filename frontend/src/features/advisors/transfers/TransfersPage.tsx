import { Button, Checkbox, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { transferPlanQuery } from '~/api/advisors'
import { meshesQuery } from '~/api/meshes'
import type { TransferPlan, TransferQuestion } from '~/api/types'
import { named } from '~/lib/options'
import { formatShare } from '~/lib/performance'
import { formatCount, formatDelay, threeDigits } from '~/lib/units'
import { Choice } from '~/ui/Choice'
import { NumberField } from '~/ui/NumberField'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { Notice } from '~/ui/State'
import styles from '../advisors.module.css'
import { BulkRun, EarlierRuns } from '../BulkRun'
import { Capacities } from './Capacities'
import {
  FIRST,
  FIRST_TOPOLOGY,
  LIST_MAX,
  requestOf,
  rowsOf,
  TOPOLOGIES,
  TRANSFERS_MAX,
  type TransferSearch,
  transferSearch,
} from './question'
import { RunTransfers } from './RunTransfers'
import { strings } from './strings'
import { TrafficShapes } from './TrafficShapes'

const SHOWN = 100
const GAIN_SHOWN_PERCENT = 0.1

interface Props {
  search: TransferSearch
  onSearch: (question: TransferSearch) => void
}

/** Return a key of a question, whatever the order of its fields and the run that is shown. */
const keyOf = ({ run: _, ...question }: TransferSearch) =>
  JSON.stringify(
    Object.entries(question)
      .filter(([, value]) => value !== undefined)
      .sort(),
  )

/** A plan of transfers that share a network; the address holds the question, but for a list that is too long for it. */
export function TransfersPage({ search, onSearch }: Props) {
  const [long, setLong] = useState({ list: '', of: '' })
  const asked = keyOf(search)
  const isLong = long.list !== '' && long.of === asked
  const whole = isLong ? { list: long.list, ...search } : search
  const request = requestOf(whole)
  const onRun = (run: string) => onSearch({ ...search, run })
  function ask({ list = '', ...others }: TransferSearch) {
    const isTooLong = list.length > LIST_MAX
    setLong(isTooLong ? { list, of: keyOf(transferSearch({ ...others })) } : { list: '', of: '' })
    onSearch(isTooLong ? others : { ...others, list })
  }
  return (
    <Page title={strings.transfers} lead={strings.transfersLead}>
      {/* Back and forward lead to another question: the form begins again from it. */}
      <Form key={asked} search={whole} onAsk={ask} />
      {isLong && <Notice tone="info">{strings.longList}</Notice>}
      {request && <Plan request={request} onRun={onRun} />}
      {search.run && <BulkRun runId={search.run} />}
      <OfMesh chosen={search.mesh} onRun={onRun} />
    </Page>
  )
}

/** The traffic and the runs of a mesh, of the first one without a choice: they need no list. */
function OfMesh({ chosen, onRun }: { chosen: string | undefined; onRun: (runId: string) => void }) {
  const meshes = useQuery(meshesQuery)
  const mesh = meshes.data?.find(({ id }) => id === chosen) ?? meshes.data?.[0]
  if (!mesh) return null
  return (
    <>
      <TrafficShapes mesh={mesh} />
      <EarlierRuns mesh={mesh.id} onRun={onRun} />
    </>
  )
}

function Form({ search, onAsk }: { search: TransferSearch; onAsk: (question: TransferSearch) => void }) {
  const meshes = useQuery(meshesQuery)
  const [draft, setDraft] = useState(search)
  const [listError, setListError] = useState<string | null>(null)
  const set = (patch: TransferSearch) => setDraft((old) => ({ ...old, ...patch }))
  const number = (field: keyof typeof FIRST, label: string, min: number, max?: number) => (
    <NumberField
      label={label}
      defaultValue={draft[field] ?? FIRST[field]}
      min={min}
      max={max}
      step="any"
      required
      withAsterisk={false}
      w={200}
      onChange={({ currentTarget }) => set({ [field]: Number(currentTarget.value) })}
    />
  )
  function submit(event: FormEvent) {
    event.preventDefault()
    const problem = listProblem(draft.list ?? '')
    setListError(problem)
    if (problem === null) onAsk(draft)
  }
  return (
    <form onSubmit={submit} className={pageStyles.list}>
      <Panel title={strings.network}>
        <div className={pageStyles.form}>
          <Choice
            label={strings.topology}
            value={draft.topology ?? FIRST_TOPOLOGY}
            data={TOPOLOGIES.filter((value) => value !== 'zones' || (draft.mesh && draft.list)).map((value) => ({
              value,
              label: strings.topologies[value],
            }))}
            onChange={(topology) => set({ topology })}
          />
          {number('capacity', strings.capacity, 0.001)}
          {(draft.topology ?? FIRST_TOPOLOGY) !== 'star' && number('oversubscription', strings.oversubscription, 1)}
        </div>
      </Panel>
      <Panel title={strings.list}>
        <p className={pageStyles.lead}>{strings.listLead}</p>
        <div className={pageStyles.form}>
          <Choice
            label={strings.mesh}
            value={draft.mesh ?? ''}
            none={strings.noMesh}
            data={named(meshes.data)}
            onChange={(mesh) => set({ mesh })}
          />
          <Textarea
            label={strings.lines}
            value={draft.list ?? ''}
            error={listError ?? undefined}
            autosize
            minRows={2}
            maxRows={12}
            className={styles.wide}
            onChange={({ currentTarget }) => set({ list: currentTarget.value })}
          />
          {draft.mesh && (
            <Checkbox
              label={strings.measured}
              description={strings.measuredMeaning}
              checked={draft.measured === true}
              onChange={({ currentTarget }) => set({ measured: currentTarget.checked || undefined })}
            />
          )}
        </div>
      </Panel>
      {!draft.list?.trim() && (
        <Panel title={strings.sort}>
          <p className={pageStyles.lead}>{strings.sortLead}</p>
          <div className={pageStyles.form}>
            {number('workers', strings.workers, 2, 24)}
            {number('size', strings.size, 0.001)}
            {number('skew', strings.skew, 0, 3)}
          </div>
        </Panel>
      )}
      <div>
        <Button type="submit">{strings.planTransfers}</Button>
      </div>
    </form>
  )
}

function listProblem(list: string): string | null {
  const rows = rowsOf(list)
  if (typeof rows === 'number') return strings.badLine(rows)
  return rows.length > TRANSFERS_MAX ? strings.tooMany(formatCount(TRANSFERS_MAX), formatCount(rows.length)) : null
}

/** The plan; transfers between VMs of a mesh can be run from it. */
function Plan({ request, onRun }: { request: TransferQuestion; onRun: (runId: string) => void }) {
  const query = useQuery(transferPlanQuery(request))
  return (
    <QueryResult query={query} what={strings.transfersLower}>
      {(plan) => (
        <div className={pageStyles.list}>
          <Outcome plan={plan} isMeasured={request.measured_capacities} />
          {request.mesh && <RunTransfers request={request} onRun={onRun} />}
        </div>
      )}
    </QueryResult>
  )
}

const seconds = (s: number) => formatDelay(1e9 * s)

function finishWords({ finish_s, fair_finish_s, gain_percent }: TransferPlan): string {
  const finish = seconds(finish_s)
  if (gain_percent < GAIN_SHOWN_PERCENT) return strings.nothingGained(finish)
  return strings.finish(finish, seconds(fair_finish_s), formatShare(gain_percent / 100))
}

function Outcome({ plan, isMeasured }: { plan: TransferPlan; isMeasured: boolean }) {
  const rows = plan.transfers.slice(0, SHOWN)
  return (
    <Panel title={strings.plan}>
      <Notice tone="info" title={finishWords(plan)}>
        {strings.bound(seconds(plan.bound_s), plan.bottleneck)} {strings.estimate}{' '}
        {plan.unmeasured > 0 ? strings.unmeasured(formatCount(plan.unmeasured)) : ''}
      </Notice>
      <Records
        low
        label={strings.planned}
        rows={rows}
        id={({ order }) => order}
        columns={[
          { title: strings.order, cell: ({ order }) => order, as: 'number' },
          { title: strings.source, cell: ({ source }) => source },
          { title: strings.target, cell: ({ target }) => target },
          { title: strings.volume, cell: ({ size_bytes }) => `${threeDigits(size_bytes / 1e6)} MB`, as: 'number' },
          { title: strings.rate, cell: ({ rate_mbit }) => `${threeDigits(rate_mbit)} Mbit/s`, as: 'number' },
          { title: strings.connections, cell: ({ connections }) => connections, as: 'number' },
          { title: strings.finishes, cell: ({ finish_s }) => seconds(finish_s), as: 'number' },
          { title: strings.fairFinishes, cell: ({ fair_finish_s }) => seconds(fair_finish_s), as: 'number' },
        ]}
      />
      {plan.transfers.length > SHOWN && (
        <p className={pageStyles.lead}>{strings.shown(String(SHOWN), formatCount(plan.transfers.length))}</p>
      )}
      {isMeasured && <Capacities rows={plan.capacities} />}
    </Panel>
  )
}
