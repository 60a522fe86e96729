import { Button, Code, NativeSelect, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { fairnessQuery, useImportFairness } from '~/api/advisors'
import { meshesQuery, rosterQuery } from '~/api/meshes'
import type { Fairness } from '~/api/types'
import type { Patch } from '~/lib/searchParams'
import { formatCount, NO_VALUE, threeDigits } from '~/lib/units'
import { NumberField } from '~/ui/NumberField'
import { LoadingPage, Page, Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { ActionError, Empty, Failed, Notice } from '~/ui/State'
import styles from '../advisors.module.css'
import { type FairnessOf, type FairnessSearch, OF } from './search'
import { strings } from './strings'

interface Props {
  search: FairnessSearch
  onSearch: (patch: Patch<FairnessSearch>) => void
}

/** Jain's index within a mesh, and of tables measured elsewhere. */
export function FairnessPage({ search, onSearch }: Props) {
  const meshes = useQuery(meshesQuery)
  const mesh = meshes.data?.find(({ id }) => id === search.mesh) ?? meshes.data?.[0]
  const roster = useQuery({ ...rosterQuery(mesh?.id ?? ''), enabled: mesh !== undefined })
  if (meshes.error && !meshes.data) return <Failed what={strings.fairness} error={meshes.error} />
  if (!meshes.data) return <LoadingPage title={strings.fairness} what={strings.fairnessLower} />
  if (!mesh) {
    return (
      <Empty
        title={strings.noMesh}
        action={<Button renderRoot={(root) => <Link {...root} to="/onboarding" />}>{strings.newMesh}</Button>}
      >
        {strings.noMeshLead}
      </Empty>
    )
  }
  const vms = roster.data?.vms.map(({ name }) => name) ?? []
  const asked = {
    of: search.of ?? 'vms',
    minutes: search.minutes ?? 60,
    source: search.source ?? vms[0],
    target: search.target ?? vms[1],
  }
  return (
    <Page title={strings.fairness} lead={strings.fairnessLead}>
      <div className={pageStyles.form}>
        <NativeSelect
          label={strings.mesh}
          value={mesh.id}
          data={meshes.data.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={({ currentTarget }) =>
            onSearch({ mesh: currentTarget.value, source: undefined, target: undefined })
          }
        />
        <NativeSelect
          label={strings.among}
          value={asked.of}
          data={OF.map((value) => ({ value, label: strings.of[value] }))}
          onChange={({ currentTarget }) => onSearch({ of: currentTarget.value as FairnessOf })}
        />
        {asked.of === 'flows' ? (
          <>
            <NativeSelect
              label={strings.from}
              value={asked.source ?? ''}
              data={vms}
              onChange={({ currentTarget }) => onSearch({ source: currentTarget.value })}
            />
            <NativeSelect
              label={strings.to}
              value={asked.target ?? ''}
              data={vms}
              onChange={({ currentTarget }) => onSearch({ target: currentTarget.value })}
            />
          </>
        ) : (
          asked.of !== 'applications' && (
            <NumberField
              key={asked.minutes}
              label={strings.lookBack}
              defaultValue={asked.minutes}
              min={2}
              max={1_440}
              w={140}
              onBlur={({ currentTarget }) => onSearch({ minutes: Number(currentTarget.value) })}
            />
          )
        )}
      </div>
      {(asked.of !== 'flows' || (asked.source && asked.target)) && <Index mesh={mesh.id} asked={asked} />}
      <Import />
      <Panel title={strings.alertHook}>
        <p className={pageStyles.lead}>
          {strings.alertHookLead} <Code>/v1/advisors/fairness/metrics</Code>
        </p>
      </Panel>
    </Page>
  )
}

function Index({ mesh, asked }: { mesh: string; asked: Parameters<typeof fairnessQuery>[1] }) {
  const query = useQuery(fairnessQuery(mesh, asked))
  return (
    <QueryResult query={query} what={strings.fairnessLower}>
      {(found) => <Found found={found} />}
    </QueryResult>
  )
}

function Found({ found }: { found: Fairness }) {
  const limit = threeDigits(found.alert_below)
  return (
    <Panel title={strings.members}>
      {found.index === null ? (
        <Notice tone="info" title={strings.noIndex}>
          {strings.noIndexLead}
        </Notice>
      ) : (
        <Notice tone={found.below ? 'warn' : 'good'} title={strings.index(found.index.toFixed(4))}>
          {found.below ? strings.below(limit) : strings.atLeast(limit)}
        </Notice>
      )}
      <p className={pageStyles.lead}>{strings.share(found.share)}</p>
      {found.members.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
        <section className={pageStyles.low} tabIndex={0} aria-label={strings.members}>
          <table className={pageStyles.table} aria-label={strings.members}>
            <thead>
              <tr>
                <th scope="col">{strings.member}</th>
                <th scope="col" className={styles.number}>
                  {strings.shareColumn}
                </th>
                <th scope="col" className={styles.number}>
                  {strings.relative}
                </th>
              </tr>
            </thead>
            <tbody>
              {found.members.map(({ name, share, relative }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td className={styles.number}>{threeDigits(share)}</td>
                  <td className={styles.number}>{threeDigits(100 * relative)} %</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {found.left_out.length > 0 && <p className={pageStyles.lead}>{strings.leftOut(found.left_out.join(', '))}</p>}
    </Panel>
  )
}

function Import() {
  const compute = useImportFairness()
  const [csv, setCsv] = useState('')
  function submit(event: FormEvent) {
    event.preventDefault()
    compute.mutate(csv)
  }
  return (
    <Panel title={strings.import}>
      <p className={pageStyles.lead}>{strings.importLead}</p>
      <form onSubmit={submit} className={pageStyles.list}>
        <Textarea
          label={strings.table}
          value={csv}
          required
          withAsterisk={false}
          autosize
          minRows={3}
          maxRows={12}
          onChange={({ currentTarget }) => setCsv(currentTarget.value)}
        />
        <div>
          <Button type="submit" variant="default" loading={compute.isPending}>
            {strings.compute}
          </Button>
        </div>
      </form>
      <ActionError error={compute.error} />
      {compute.data && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
        <section className={pageStyles.low} tabIndex={0} aria-label={strings.imported}>
          <table className={pageStyles.table} aria-label={strings.imported}>
            <thead>
              <tr>
                <th scope="col">{strings.group}</th>
                {[strings.windows, strings.mean, strings.lowest].map((title) => (
                  <th key={title} scope="col" className={styles.number}>
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {compute.data.groups.map(({ group, mean, windows }) => {
                const known = windows.flatMap(({ index }) => (index === null ? [] : [index]))
                return (
                  <tr key={group}>
                    <th scope="row">{group}</th>
                    <td className={styles.number}>{formatCount(windows.length)}</td>
                    <td className={styles.number}>{mean?.toFixed(4) ?? NO_VALUE}</td>
                    <td className={styles.number}>{known.length > 0 ? Math.min(...known).toFixed(4) : NO_VALUE}</td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </section>
      )}
    </Panel>
  )
}
