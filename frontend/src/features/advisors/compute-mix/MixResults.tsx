import type { ComputeMix, PathMix } from '~/api/types'
import { CurveChart } from '~/charts/curve/CurveChart'
import { formatDelay, NO_VALUE, threeDigits } from '~/lib/units'
import { lineStyle } from '~/ui/lineStyle'
import { Panel, pageStyles } from '~/ui/Page'
import { Notice } from '~/ui/State'
import styles from '../advisors.module.css'
import { Legend } from '../Legend'
import { money } from '../money'
import { strings } from './strings'

/** The cheapest mix of each path, its alternatives, and cost against load. */
export function MixResults({ mix, load }: { mix: ComputeMix; load: number }) {
  return (
    <>
      {mix.paths.map((path, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same path may be asked for twice
        <Panel key={at} title={mix.paths.length > 1 || path.statistic ? path.label : strings.cheapestMix}>
          <Advice path={path} currency={mix.currency} isBase={at === 0} />
          <Options path={path} currency={mix.currency} />
          <Costs path={path} load={load} />
          <Profile path={path} currency={mix.currency} />
        </Panel>
      ))}
    </>
  )
}

function Advice({ path, currency, isBase }: { path: PathMix; currency: string | null; isBase: boolean }) {
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

function Options({ path, currency }: { path: PathMix; currency: string | null }) {
  return (
    //biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <section className={pageStyles.scroll} tabIndex={0} aria-label={strings.optionsOf(path.label)}>
      <table className={pageStyles.table} aria-label={strings.optionsOf(path.label)}>
        <thead>
          <tr>
            <th scope="col">{strings.vmType}</th>
            {[
              strings.utilisationMax,
              strings.capacity,
              strings.breakEven,
              strings.vms,
              strings.toServerless,
              strings.costPerHour,
              strings.vmsAlone,
              strings.serverlessAlone,
            ].map((title) => (
              <th key={title} scope="col" className={styles.number}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {path.options.map((option) => (
            <tr key={option.vm} className={option.vm === path.best ? styles.best : undefined}>
              <th scope="row">{option.vm}</th>
              <td className={styles.number}>{threeDigits(option.utilisation_max * 100)} %</td>
              <td className={styles.number}>{perSecond(option.capacity_per_s)}</td>
              <td className={styles.number}>{perSecond(option.break_even_per_s)}</td>
              <td className={styles.number}>{option.split?.vms ?? NO_VALUE}</td>
              <td className={styles.number}>{perSecond(option.split?.serverless_per_s)}</td>
              <td className={styles.number}>{money(option.split?.cost_per_hour, currency)}</td>
              <td className={styles.number}>{money(option.vms_alone?.cost_per_hour, currency)}</td>
              <td className={styles.number}>{money(option.serverless_alone?.cost_per_hour, currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Costs({ path, load }: { path: PathMix; load: number }) {
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
        label={strings.costChart(curve.vm)}
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

function Profile({ path, currency }: { path: PathMix; currency: string | null }) {
  const { profile } = path
  if (!profile) return null
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section className={pageStyles.low} tabIndex={0} aria-label={strings.profileOf(path.label)}>
        <table className={pageStyles.table} aria-label={strings.profileOf(path.label)}>
          <thead>
            <tr>
              {[strings.hour, strings.loadPerSecond, strings.vms, strings.toServerless, strings.costOfHour].map(
                (title) => (
                  <th key={title} scope="col" className={styles.number}>
                    {title}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {profile.hours.map((hour, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the place of an hour is its identity
              <tr key={at}>
                <th scope="row" className={styles.number}>
                  {at}
                </th>
                <td className={styles.number}>{threeDigits(hour.load_per_s)}</td>
                <td className={styles.number}>{hour.vms}</td>
                <td className={styles.number}>{perSecond(hour.serverless_per_s)}</td>
                <td className={styles.number}>{money(hour.cost, currency)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  )
}

const perSecond = (value: number | null | undefined) => (value == null ? NO_VALUE : `${threeDigits(value)}/s`)
