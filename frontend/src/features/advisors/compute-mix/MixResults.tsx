import type { ComputeMix, PathMix } from '~/api/types'
import { CurveChart } from '~/charts/curve/CurveChart'
import { money } from '~/lib/money'
import { formatDelay, NO_VALUE, threeDigits } from '~/lib/units'
import { lineStyle } from '~/ui/lineStyle'
import { Panel, pageStyles } from '~/ui/Page'
import { type Column, Records } from '~/ui/Records'
import { Notice } from '~/ui/State'
import { Legend } from '../Legend'
import type { MixSearch } from './question'
import { strings } from './strings'

/** The cheapest mix of each path, its alternatives, and cost against load. */
export function MixResults({ mix, asked }: { mix: ComputeMix; asked: Required<MixSearch> }) {
  const { currency, load } = asked
  return (
    <>
      {mix.paths.map((path, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same path may be asked for twice
        <Panel key={at} title={mix.paths.length > 1 || path.statistic ? path.label : strings.cheapestMix}>
          <Advice path={path} currency={currency} isBase={at === 0} />
          <Options path={path} currency={currency} />
          <Costs path={path} load={load} currency={currency} />
          <Profile path={path} currency={currency} />
        </Panel>
      ))}
    </>
  )
}

function Advice({ path, currency, isBase }: { path: PathMix; currency: string; isBase: boolean }) {
  const best = path.options.find(({ vm }) => vm === path.best)
  if (!best?.split) {
    return (
      <Notice tone="warn" title={strings.noMix}>
        {path.reason}
      </Notice>
    )
  }
  const { split } = best
  const network = path.statistic
    ? strings.budget(
        threeDigits(path.budget_ms),
        path.statistic,
        formatDelay(1e3 * (path.outbound_us + path.inbound_us)),
      )
    : ''
  const difference =
    !isBase && path.difference_per_hour !== null
      ? strings.difference(money(Math.abs(path.difference_per_hour), currency), path.difference_per_hour)
      : ''
  return (
    <Notice tone="info" title={strings.advice[split.regime](best.vm, split.vms, threeDigits(split.serverless_per_s))}>
      {strings.cost(
        money(split.cost_per_hour, currency),
        best.saving_per_hour ? money(best.saving_per_hour, currency) : null,
      )}{' '}
      {network} {difference}
    </Notice>
  )
}

type Option = PathMix['options'][number]

const number = (title: string, cell: (option: Option) => string | number): Column<Option> => ({
  title,
  cell,
  as: 'number',
})

function Options({ path, currency }: { path: PathMix; currency: string }) {
  return (
    <Records
      label={strings.optionsOf(path.label)}
      rows={path.options}
      id={({ vm }) => vm}
      isCurrent={({ vm }) => vm === path.best}
      columns={[
        { title: strings.vmType, cell: ({ vm }) => vm, as: 'head' },
        number(strings.utilisationMax, (option) => `${threeDigits(option.utilisation_max * 100)} %`),
        number(strings.capacity, (option) => perSecond(option.capacity_per_s)),
        number(strings.breakEven, (option) => perSecond(option.break_even_per_s)),
        number(strings.vms, (option) => option.split?.vms ?? NO_VALUE),
        number(strings.toServerless, (option) => perSecond(option.split?.serverless_per_s)),
        number(strings.costPerHour, (option) => money(option.split?.cost_per_hour, currency)),
        number(strings.vmsAlone, (option) => money(option.vms_alone?.cost_per_hour, currency)),
        number(strings.serverlessAlone, (option) => money(option.serverless_alone?.cost_per_hour, currency)),
      ]}
    />
  )
}

function Costs({ path, load, currency }: { path: PathMix; load: number; currency: string }) {
  const { curve } = path
  if (!curve) return null
  const drawn = [
    { label: strings.mixLine, y: curve.mix },
    { label: strings.vmsAlone, y: curve.vms_alone },
    { label: strings.serverlessAlone, y: curve.serverless_alone },
  ].flatMap(({ label, y }, n) => (y ? [{ key: label, label, n, x: curve.load_per_s, y, ...lineStyle(n) }] : []))
  // Serverless alone may cost many times more: the axis ends where the mix is still readable.
  const most = Math.max(2.5 * Math.max(...curve.mix), 1e-9)
  const lines = drawn.map((line) => cut(line, most))
  return (
    <>
      <Legend lines={lines} />
      <CurveChart
        label={strings.costChart(curve.vm, currency)}
        height={260}
        lines={lines}
        marks={[{ key: 'load', x: load, label: strings.yourLoad, colour: 'var(--ink-2)' }]}
        x={[0, curve.load_per_s.at(-1) ?? 1]}
        y={[0, most]}
        xLabel={strings.loadPerSecond}
        formatX={(value) => threeDigits(value)}
        formatY={(value) => threeDigits(value)}
      />
    </>
  )
}

/** Leave out what is beyond the axis. */
function cut<T extends { x: number[]; y: number[] }>(line: T, most: number): T {
  const end = line.y.findIndex((value) => value > most)
  return end < 0 ? line : { ...line, x: line.x.slice(0, end), y: line.y.slice(0, end) }
}

function Profile({ path, currency }: { path: PathMix; currency: string }) {
  const { profile } = path
  if (!profile) return null
  const hours = profile.hours.map((hour, at) => ({ ...hour, at }))
  return (
    <>
      <p className={pageStyles.lead}>
        {strings.profileCost(
          money(profile.cost, currency),
          String(profile.hours.length),
          profile.vm,
          money(profile.vms_alone_cost, currency),
          money(profile.serverless_alone_cost, currency),
        )}
      </p>
      <Records
        low
        label={strings.profileOf(path.label)}
        rows={hours}
        id={({ at }) => at}
        columns={[
          { title: strings.hour, cell: ({ at }) => at, as: 'head' },
          { title: strings.loadPerSecond, cell: ({ load_per_s }) => threeDigits(load_per_s), as: 'number' },
          { title: strings.vms, cell: ({ vms }) => vms, as: 'number' },
          { title: strings.toServerless, cell: ({ serverless_per_s: rest }) => perSecond(rest), as: 'number' },
          { title: strings.costOfHour, cell: ({ cost }) => money(cost, currency), as: 'number' },
        ]}
      />
    </>
  )
}

const perSecond = (value: number | null | undefined) => (value == null ? NO_VALUE : `${threeDigits(value)}/s`)
