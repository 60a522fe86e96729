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
import { ActionError, Notice } from '~/ui/State'
import styles from '../advisors.module.css'
import { strings } from './strings'

/** Price lists, and their import from a file or from the sample. */
export function PriceLists() {
  const lists = useQuery(priceListsQuery)
  const samples = useQuery(priceListSamplesQuery)
  const add = useImportPriceList()
  const edits = useEdits()

  async function read(file: File | null) {
    if (!file) return
    const text = await file.text()
    const document = file.name.endsWith('.json') ? { json_text: text } : { csv: text }
    add.mutate({
      name: file.name.replace(/\.\w+$/, ''),
      currency: 'USD',
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
          <Group>
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
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <section className={pageStyles.low} tabIndex={0} aria-label={strings.priceLists}>
      <table className={pageStyles.table} aria-label={strings.priceLists}>
        <thead>
          <tr>
            <th scope="col">{strings.name}</th>
            <th scope="col">{strings.currency}</th>
            <th scope="col">{strings.asOf}</th>
            <th scope="col" className={styles.number}>
              {strings.entries}
            </th>
            {edits && <td />}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row" title={row.source ?? undefined}>
                {row.name}
              </th>
              <td>{row.currency}</td>
              <td>{row.as_of}</td>
              <td className={styles.number}>{formatCount(row.entries.length)}</td>
              {edits && (
                <td>
                  <button
                    type="button"
                    className={pageStyles.action}
                    aria-label={strings.deleteName(row.name)}
                    onClick={() => setAbout(row)}
                  >
                    {strings.delete}
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      <Confirm
        title={strings.deleteName(about?.name ?? '')}
        action={strings.delete}
        about={about?.id ?? null}
        doing={remove}
        onClose={() => setAbout(null)}
      >
        {strings.deleteEffect}
      </Confirm>
    </section>
  )
}
