import { Button, NativeSelect, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { transferPlanQuery } from '~/api/advisors'
import { meshesQuery } from '~/api/meshes'
import type { TransferPlan, TransferQuestion } from '~/api/types'
import { formatShare } from '~/lib/performance'
import { formatCount, formatDelay, threeDigits } from '~/lib/units'
import { NumberField } from '~/ui/NumberField'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Notice } from '~/ui/State'
import styles from '../advisors.module.css'
import { FIRST, requestOf, rowsOf, TOPOLOGIES, type Topology, type TransferSearch } from './question'
import { strings } from './strings'

const SHOWN = 100

interface Props {
  search: TransferSearch
  onSearch: (question: TransferSearch) => void
}

/** A plan of transfers that share a network; the address holds the question. */
export function TransfersPage({ search, onSearch }: Props) {
  const request = requestOf(search)
  return (
    <Page title={strings.transfers} lead={strings.transfersLead}>
      <Form search={search} onAsk={onSearch} />
      {request && <Plan request={request} />}
    </Page>
  )
}

function Form({ search, onAsk }: { search: TransferSearch; onAsk: (question: TransferSearch) => void }) {
  const meshes = useQuery(meshesQuery)
  const [draft, setDraft] = useState(search)
  const [badLine, setBadLine] = useState<number | null>(null)
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
    const rows = rowsOf(draft.list ?? '')
    setBadLine(typeof rows === 'number' ? rows : null)
    if (typeof rows !== 'number') onAsk(draft)
  }
  return (
    <form onSubmit={submit} className={pageStyles.list}>
      <Panel title={strings.network}>
        <div className={pageStyles.form}>
          <NativeSelect
            label={strings.topology}
            value={draft.topology ?? 'star'}
            data={TOPOLOGIES.filter((value) => value !== 'zones' || (draft.mesh && draft.list)).map((value) => ({
              value,
              label: strings.topologies[value],
            }))}
            onChange={({ currentTarget }) => set({ topology: currentTarget.value as Topology })}
          />
          {number('capacity', strings.capacity, 0.001)}
          {number('oversubscription', strings.oversubscription, 1)}
        </div>
      </Panel>
      <Panel title={strings.list}>
        <p className={pageStyles.lead}>{strings.listLead}</p>
        <div className={pageStyles.form}>
          <NativeSelect
            label={strings.mesh}
            value={draft.mesh ?? ''}
            data={[
              { value: '', label: strings.noMesh },
              ...(meshes.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
            ]}
            onChange={({ currentTarget }) => set({ mesh: currentTarget.value })}
          />
          <Textarea
            label={strings.lines}
            value={draft.list ?? ''}
            error={badLine === null ? undefined : strings.badLine(badLine)}
            autosize
            minRows={2}
            maxRows={12}
            className={styles.wide}
            onChange={({ currentTarget }) => set({ list: currentTarget.value })}
          />
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

function Plan({ request }: { request: TransferQuestion }) {
  const query = useQuery(transferPlanQuery(request))
  return (
    <QueryResult query={query} what={strings.transfersLower}>
      {(plan) => <Outcome plan={plan} />}
    </QueryResult>
  )
}

const seconds = (s: number) => formatDelay(1e9 * s)

function Outcome({ plan }: { plan: TransferPlan }) {
  const rows = plan.transfers.slice(0, SHOWN)
  return (
    <Panel title={strings.plan}>
      <Notice
        tone="info"
        title={strings.finish(
          seconds(plan.finish_s),
          seconds(plan.fair_finish_s),
          formatShare(plan.gain_percent / 100),
        )}
      >
        {strings.bound(seconds(plan.bound_s), plan.bottleneck)} {strings.estimate}{' '}
        {plan.unmeasured > 0 ? strings.unmeasured(formatCount(plan.unmeasured)) : ''}
      </Notice>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section className={pageStyles.low} tabIndex={0} aria-label={strings.planned}>
        <table className={pageStyles.table} aria-label={strings.planned}>
          <thead>
            <tr>
              <th scope="col" className={styles.number}>
                {strings.order}
              </th>
              <th scope="col">{strings.source}</th>
              <th scope="col">{strings.target}</th>
              {[strings.volume, strings.rate, strings.connections, strings.finishes, strings.fairFinishes].map(
                (title) => (
                  <th key={title} scope="col" className={styles.number}>
                    {title}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.order}>
                <td className={styles.number}>{row.order}</td>
                <td>{row.source}</td>
                <td>{row.target}</td>
                <td className={styles.number}>{threeDigits(row.size_bytes / 1e6)} MB</td>
                <td className={styles.number}>{threeDigits(row.rate_mbit)} Mbit/s</td>
                <td className={styles.number}>{row.connections}</td>
                <td className={styles.number}>{seconds(row.finish_s)}</td>
                <td className={styles.number}>{seconds(row.fair_finish_s)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {plan.transfers.length > SHOWN && (
        <p className={pageStyles.lead}>{strings.shown(String(SHOWN), formatCount(plan.transfers.length))}</p>
      )}
    </Panel>
  )
}
