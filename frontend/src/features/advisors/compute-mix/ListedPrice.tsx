import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { priceListsQuery } from '~/api/advisors'
import type { PriceList } from '~/api/types'
import { formatCount } from '~/lib/units'
import { Choice } from '~/ui/Choice'
import { pageStyles } from '~/ui/Page'
import { CURRENCY } from './question'
import { strings } from './strings'

type Entry = PriceList['entries'][number]
type EntryOf<Kind> = Extract<Entry, { kind: Kind }>

interface Props<Kind> {
  kind: Kind
  currency: string
  onChoose: (entry: EntryOf<Kind>) => void
}

/** Choice of an entry of the price lists in one currency; nothing without a price list. */
export function ListedPrice<Kind extends Entry['kind']>({ kind, currency, onChoose }: Props<Kind>) {
  const lists = useQuery(priceListsQuery)
  const all = (lists.data ?? []).flatMap((list) =>
    list.entries.flatMap((entry) => (entry.kind === kind ? [{ list, entry: entry as EntryOf<Kind> }] : [])),
  )
  const listed = all.filter(({ list }) => list.currency === currency)
  return (
    <>
      {listed.length > 0 && (
        <Choice
          label={strings.fromPriceList}
          value=""
          none={strings.chooseEntry}
          data={listed.map(({ list, entry }, at) => ({
            value: String(at),
            label: strings.entry(`${entry.provider} ${entry.region}`, entry.name, priceOf(entry), list.name),
          }))}
          onChange={(value) => {
            const chosen = listed[Number(value)]
            if (value !== '' && chosen) onChoose(chosen.entry)
          }}
        />
      )}
      {all.length > listed.length && (
        <p className={pageStyles.lead}>{strings.otherCurrency(formatCount(all.length - listed.length), currency)}</p>
      )}
    </>
  )
}

function priceOf(entry: Entry): string {
  return entry.kind === 'vm'
    ? strings.vmPrice(entry.price_per_hour)
    : strings.serverlessPrice(entry.price_per_gb_second)
}

interface CurrencyProps {
  label: string
  value: string
  onChange: (currency: string) => void
}

/** Code of a currency; small letters become capital ones. */
export function CurrencyField({ label, value, onChange }: CurrencyProps) {
  return (
    <TextInput
      label={label}
      value={value}
      pattern={CURRENCY.source}
      title={strings.notCurrency}
      required
      withAsterisk={false}
      w={170}
      onChange={({ currentTarget }) => onChange(currentTarget.value.toUpperCase())}
    />
  )
}
