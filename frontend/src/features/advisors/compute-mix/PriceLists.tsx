import { Button, FileButton, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useEdits } from '~/api/access'
import { priceListSamplesQuery, priceListsQuery, useDeletePriceList, useImportPriceList } from '~/api/advisors'
import type { PriceList } from '~/api/types'
import { formatCount } from '~/lib/units'
import { Confirm } from '~/ui/Confirm'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { ActionError, Notice } from '~/ui/State'
import { CurrencyField } from './ListedPrice'
import { FIRST } from './question'
import { strings } from './strings'

/** Price lists, and their import from a file or from the sample. */
export function PriceLists() {
  const lists = useQuery(priceListsQuery)
  const samples = useQuery(priceListSamplesQuery)
  const add = useImportPriceList()
  const edits = useEdits()
  const [currency, setCurrency] = useState(FIRST.currency)

  async function read(file: File | null) {
    if (!file) return
    const text = await file.text()
    const document = file.name.endsWith('.json') ? { json_text: text } : { csv: text }
    add.mutate({
      name: file.name.replace(/\.\w+$/, ''),
      currency,
      as_of: new Date(file.lastModified).toISOString().slice(0, 10),
      ...document,
    })
  }

  return (
    <Panel title={strings.priceLists}>
      <QueryResult query={lists} what={strings.priceListsLower}>
        {(rows) =>
          rows.length > 0 ? (
            <Table rows={rows} edits={edits} />
          ) : (
            <Notice tone="info" title={strings.noPriceLists}>
              {strings.noPriceListsLead}
            </Notice>
          )
        }
      </QueryResult>
      {edits && (
        <>
          <Group align="end">
            {samples.data?.map((sample) => (
              <Button
                key={sample.name}
                variant="default"
                loading={add.isPending}
                onClick={() => add.mutate({ ...sample })}
              >
                {strings.importSample(sample.as_of)}
              </Button>
            ))}
            <CurrencyField label={strings.importCurrency} value={currency} onChange={setCurrency} />
            <FileButton accept=".csv,.json" onChange={(file) => void read(file)}>
              {(props) => (
                <Button {...props} variant="default" loading={add.isPending}>
                  {strings.importFile}
                </Button>
              )}
            </FileButton>
          </Group>
          <p className={pageStyles.lead}>{strings.fileLead}</p>
        </>
      )}
      <ActionError error={add.error} />
    </Panel>
  )
}

function Table({ rows, edits }: { rows: PriceList[]; edits: boolean }) {
  const remove = useDeletePriceList()
  const [about, setAbout] = useState<PriceList | null>(null)
  const actions = (row: PriceList) => (
    <button
      type="button"
      className={pageStyles.action}
      aria-label={strings.deleteName(row.name)}
      onClick={() => setAbout(row)}
    >
      {strings.delete}
    </button>
  )
  return (
    <>
      <Records
        low
        label={strings.priceLists}
        rows={rows}
        id={({ id }) => id}
        columns={[
          {
            title: strings.name,
            cell: ({ name, source }) => <span title={source ?? undefined}>{name}</span>,
            as: 'head',
          },
          { title: strings.currency, cell: ({ currency }) => currency },
          { title: strings.asOf, cell: ({ as_of }) => as_of },
          { title: strings.entries, cell: ({ entries }) => formatCount(entries.length), as: 'number' },
          ...(edits ? [{ title: strings.actions, cell: actions }] : []),
        ]}
      />
      <Confirm
        title={strings.deleteName(about?.name ?? '')}
        action={strings.delete}
        about={about?.id ?? null}
        doing={remove}
        onClose={() => setAbout(null)}
      >
        {strings.deleteEffect}
      </Confirm>
    </>
  )
}
