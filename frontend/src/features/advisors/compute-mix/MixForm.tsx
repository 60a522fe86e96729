import { Button, Switch, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { meshesQuery, rosterQuery } from '~/api/meshes'
import { labelled, named } from '~/lib/options'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { NumberField, numberOf } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { Term } from '~/ui/Term'
import styles from '../advisors.module.css'
import { CurrencyField, ListedPrice } from './ListedPrice'
import { type Ends, FIRST, type MixSearch, numbersOf, STATISTICS, type VmRow } from './question'
import { strings } from './strings'

type Question = Required<MixSearch>

interface Props {
  asked: Question
  onAsk: (question: Question) => void
}

/** The service, the offers and the paths that a mix is asked for. */
export function MixForm({ asked, onAsk }: Props) {
  const [draft, setDraft] = useState(asked)
  const [hourly, setHourly] = useState(asked.hourly.join(', '))
  const loads = numbersOf(hourly)
  const set = (patch: Partial<Question>) => setDraft((old) => ({ ...old, ...patch }))
  const { offer } = draft
  const field = (
    label: React.ReactNode,
    value: number,
    onChange: (value: number) => void,
    width = 130,
    limits: { min: number; step: number | 'any' } = { min: 0, step: 'any' },
  ) => (
    <NumberField
      label={label}
      value={value}
      {...limits}
      required
      withAsterisk={false}
      w={width}
      onChange={({ currentTarget }) => onChange(numberOf(currentTarget.value))}
    />
  )

  function submit(event: FormEvent) {
    event.preventDefault()
    if (loads) onAsk({ ...draft, hourly: loads })
  }

  return (
    <form onSubmit={submit} className={pageStyles.list}>
      <Panel title={strings.service}>
        <div className={pageStyles.form}>
          <CurrencyField
            label={strings.currencyCode}
            value={draft.currency}
            onChange={(currency) => set({ currency })}
          />
          {field(strings.loadPerSecond, draft.load, (load) => set({ load }))}
          {field(<Term of="response target">{strings.targetMs}</Term>, draft.target, (target) => set({ target }), 170)}
          <Choice
            label={strings.targetStatistic}
            value={draft.statistic}
            data={labelled(strings.statistics, STATISTICS)}
            onChange={(statistic) => set({ statistic })}
          />
          {field(
            <Term of="coefficient of variation">{strings.variation}</Term>,
            draft.variation,
            (variation) => set({ variation }),
            190,
          )}
        </div>
      </Panel>
      <Panel title={strings.vmTypes}>
        <VmRows rows={draft.vms} currency={draft.currency} onChange={(vms) => set({ vms })} />
      </Panel>
      <Panel title={strings.serverless}>
        <Switch
          label={strings.serverlessOffered}
          checked={offer !== null}
          onChange={({ currentTarget }) => set({ offer: currentTarget.checked ? FIRST.offer : null })}
        />
        {offer && (
          <div className={pageStyles.form}>
            {field(strings.serviceMs, offer.serviceMs, (serviceMs) => set({ offer: { ...offer, serviceMs } }))}
            {field(strings.memoryGb, offer.memoryGb, (memoryGb) => set({ offer: { ...offer, memoryGb } }))}
            {field(strings.perGbSecond, offer.perGbSecond, (perGbSecond) => set({ offer: { ...offer, perGbSecond } }))}
            {field(strings.perMillion, offer.perMillion, (perMillion) => set({ offer: { ...offer, perMillion } }), 190)}
            {field(<Term of="cold start">{strings.coldPercent}</Term>, offer.coldPercent, (coldPercent) =>
              set({ offer: { ...offer, coldPercent } }),
            )}
            {field(strings.coldMs, offer.coldMs, (coldMs) => set({ offer: { ...offer, coldMs } }))}
            <ListedPrice
              kind="serverless"
              currency={draft.currency}
              onChoose={({ price_per_gb_second: perGbSecond, price_per_million_requests: perMillion }) =>
                set({ offer: { ...offer, perGbSecond, perMillion: perMillion ?? 0 } })
              }
            />
          </div>
        )}
      </Panel>
      <Panel title={strings.network}>
        <p className={pageStyles.lead}>{strings.networkLead}</p>
        <Paths mesh={draft.mesh} paths={draft.paths} onChange={(mesh, paths) => set({ mesh, paths })} />
      </Panel>
      <Panel title={strings.hourlyLoad}>
        <div className={pageStyles.form}>
          <Textarea
            label={strings.hourlyLoads}
            description={strings.hourlyLoadsLead}
            value={hourly}
            error={loads === null ? strings.notNumbers : undefined}
            autosize
            minRows={1}
            className={styles.wide}
            onChange={({ currentTarget }) => setHourly(currentTarget.value)}
          />
          {field(strings.termHours, draft.term, (term) => set({ term }), 150, { min: 1, step: 1 })}
        </div>
      </Panel>
      <div>
        <Button type="submit">{strings.findMix}</Button>
      </div>
    </form>
  )
}

interface VmRowsProps {
  rows: VmRow[]
  currency: string
  onChange: (rows: VmRow[]) => void
}

function VmRows({ rows, currency, onChange }: VmRowsProps) {
  const change = (at: number, patch: Partial<VmRow>) =>
    onChange(rows.map((row, other) => (other === at ? { ...row, ...patch } : row)))
  const add = (row: VmRow) => onChange([...rows, row])
  return (
    <>
      {rows.map((row, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
        <div key={at} className={pageStyles.form}>
          <TextInput
            label={strings.vmType}
            value={row.name}
            required
            withAsterisk={false}
            {...longest(100)}
            onChange={({ currentTarget }) => change(at, { name: currentTarget.value })}
          />
          <NumberField
            label={strings.pricePerHour}
            value={row.price}
            min={0}
            step="any"
            required
            withAsterisk={false}
            w={130}
            onChange={({ currentTarget }) => change(at, { price: numberOf(currentTarget.value) })}
          />
          <NumberField
            label={strings.serviceMs}
            value={row.serviceMs}
            min={0}
            step="any"
            required
            withAsterisk={false}
            w={130}
            onChange={({ currentTarget }) => change(at, { serviceMs: numberOf(currentTarget.value) })}
          />
          {rows.length > 1 && (
            <Button
              variant="default"
              aria-label={strings.removeName(row.name)}
              onClick={() => onChange(rows.filter((_, other) => other !== at))}
            >
              {strings.remove}
            </Button>
          )}
        </div>
      ))}
      <div className={pageStyles.form}>
        <Button variant="default" onClick={() => add({ name: strings.vm, price: 0.1, serviceMs: 50 })}>
          {strings.addVmType}
        </Button>
        <ListedPrice
          kind="vm"
          currency={currency}
          onChoose={({ name, price_per_hour: price }) => add({ name, price, serviceMs: rows[0]?.serviceMs ?? 50 })}
        />
      </div>
    </>
  )
}

interface PathsProps {
  mesh: string
  paths: Ends[]
  onChange: (mesh: string, paths: Ends[]) => void
}

function Paths({ mesh, paths, onChange }: PathsProps) {
  const meshes = useQuery(meshesQuery)
  const chosen = meshes.data?.find(({ id }) => id === mesh) ?? meshes.data?.[0]
  const roster = useQuery({ ...rosterQuery(chosen?.id ?? ''), enabled: chosen !== undefined })
  const vms = roster.data?.vms.map(({ name }) => name) ?? []
  if (!chosen) return <p className={pageStyles.lead}>{strings.noMesh}</p>
  const change = (at: number, patch: Partial<Ends>) =>
    onChange(
      chosen.id,
      paths.map((path, other) => (other === at ? { ...path, ...patch } : path)),
    )
  return (
    <>
      <div className={pageStyles.form}>
        <Choice
          label={strings.mesh}
          value={chosen.id}
          data={named(meshes.data)}
          onChange={(value) => onChange(value, [])}
        />
      </div>
      {paths.map((path, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
        <div key={at} className={pageStyles.form}>
          <Choice
            label={strings.client}
            value={path.source}
            data={vms}
            onChange={(value) => change(at, { source: value })}
          />
          <Choice
            label={strings.serviceVm}
            value={path.target}
            data={vms}
            onChange={(value) => change(at, { target: value })}
          />
          <Button
            variant="default"
            aria-label={strings.removePath(path.source, path.target)}
            onClick={() =>
              onChange(
                chosen.id,
                paths.filter((_, other) => other !== at),
              )
            }
          >
            {strings.remove}
          </Button>
        </div>
      ))}
      {vms.length > 1 && paths.length < 10 && (
        <div>
          <Button
            variant="default"
            onClick={() => onChange(chosen.id, [...paths, { source: vms[0] ?? '', target: vms[1] ?? '' }])}
          >
            {paths.length === 0 ? strings.addPath : strings.addOtherPath}
          </Button>
        </div>
      )}
    </>
  )
}
