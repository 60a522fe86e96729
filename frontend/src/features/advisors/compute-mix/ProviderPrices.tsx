import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { providerPricesQuery } from '~/api/advisors'
import type { ComputeMix, ProviderPrices as Prices, ProviderPriceQuestion } from '~/api/types'
import { CurveChart } from '~/charts/curve/CurveChart'
import { money } from '~/lib/money'
import { threeDigits } from '~/lib/units'
import { LiveNumber } from '~/ui/LiveNumber'
import { lineStyle } from '~/ui/lineStyle'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Term } from '~/ui/Term'
import { Legend } from '../Legend'
import type { MixSearch } from './question'
import { strings } from './strings'

/** The price of a busy container from the provider's side, for the best VM type of the first path. */
export function ProviderPrices({ mix, asked }: { mix: ComputeMix; asked: Required<MixSearch> }) {
  const path = mix.paths[0]
  const best = path?.options.find(({ vm }) => vm === path.best)
  const typed = asked.vms.find(({ name }) => name === best?.vm)
  const [cost, setCost] = useState<number | null>(null)
  if (!best || !typed || !asked.offer || best.capacity_per_s === 0 || asked.load === 0) return null
  const vmCost = cost ?? 0.5 * best.price_per_hour
  const question: ProviderPriceQuestion = {
    load_per_s: asked.load,
    vm_rate_per_s: 1000 / typed.serviceMs,
    serverless_rate_per_s: 1000 / asked.offer.serviceMs,
    vm_price_per_hour: best.price_per_hour,
    vm_cost_per_hour: vmCost,
    utilisation_max: best.utilisation_max,
  }
  return (
    <Panel title={strings.providerPrices}>
      <p className={pageStyles.lead}>{strings.providerPricesLead}</p>
      <div className={pageStyles.form}>
        <LiveNumber
          label={<Term of="equilibrium price">{strings.vmCost}</Term>}
          number={vmCost}
          min={0}
          step="any"
          w={250}
          onNumber={setCost}
        />
      </div>
      <Outcome question={question} currency={asked.currency} />
    </Panel>
  )
}

function Outcome({ question, currency }: { question: ProviderPriceQuestion; currency: string }) {
  const query = useQuery(providerPricesQuery(question))
  return (
    <QueryResult query={query} what={strings.providerPrices}>
      {(prices) => <Chart prices={prices} currency={currency} />}
    </QueryResult>
  )
}

function Chart({ prices, currency }: { prices: Prices; currency: string }) {
  const amount = (value: number) => money(value, currency)
  const x = prices.price_per_busy_hour
  const lines = [
    { label: strings.profit, y: prices.profit_per_hour },
    { label: strings.bill, y: prices.tenant_cost_per_hour },
  ].map(({ label, y }, n) => ({ key: label, label, n, x, y, ...lineStyle(n) }))
  const all = lines.flatMap(({ y }) => y)
  const switches = [prices.switch_to_mixed, prices.switch_to_vms].flatMap((at) => (at === null ? [] : [at]))
  return (
    <>
      <p>
        {prices.switch_to_vms === null
          ? strings.oneSwitch(amount(prices.switch_to_mixed))
          : strings.switches(amount(prices.switch_to_mixed), amount(prices.switch_to_vms))}{' '}
        {equilibrium(prices, amount)}
      </p>
      <Legend lines={lines} />
      <CurveChart
        label={strings.profitChart}
        height={240}
        lines={lines}
        marks={switches.map((at) => ({ key: String(at), x: at, label: threeDigits(at), colour: 'var(--ink-2)' }))}
        x={[0, x.at(-1) ?? 1]}
        y={[Math.min(0, ...all), Math.max(...all, 1e-9)]}
        xLabel={strings.busyHourPrice(currency)}
        formatX={threeDigits}
        formatY={threeDigits}
      />
    </>
  )
}

/** Return where the provider earns most; where it rents VMs only, any price above the last switch is as good. */
function equilibrium(prices: Prices, amount: (value: number) => string): string {
  const { regime, price_per_busy_hour: price, profit_per_hour: profit } = prices.equilibrium
  return regime === 'vm_only'
    ? strings.equilibriumAbove(amount(prices.switch_to_vms ?? prices.switch_to_mixed), amount(profit))
    : strings.equilibrium(amount(price), amount(profit))
}
