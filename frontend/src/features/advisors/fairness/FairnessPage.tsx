import { Button, Code, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { fairnessQuery, useImportFairness } from '~/api/advisors'
import { meshesQuery, rosterQuery } from '~/api/meshes'
import type { Fairness } from '~/api/types'
import { labelled, named } from '~/lib/options'
import type { Patch } from '~/lib/searchParams'
import { formatCount, NO_VALUE, threeDigits } from '~/lib/units'
import { Choice } from '~/ui/Choice'
import { LiveNumber } from '~/ui/LiveNumber'
import { ButtonLink, TextLink } from '~/ui/links'
import { LoadingPage, Page, Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { ActionError, Empty, Failed, Notice } from '~/ui/State'
import { type FairnessOf, type FairnessSearch, OF } from './search'
import { strings } from './strings'

interface Props {
  search: FairnessSearch
  onSearch: (patch: Patch<FairnessSearch>) => void
}

/** The fairness index within a mesh, and of tables measured elsewhere. */
export function FairnessPage({ search, onSearch }: Props) {
  const meshes = useQuery(meshesQuery)
  const mesh = meshes.data?.find(({ id }) => id === search.mesh) ?? meshes.data?.[0]
  const roster = useQuery({ ...rosterQuery(mesh?.id ?? ''), enabled: mesh !== undefined })
  const vms = roster.data?.vms.map(({ name }) => name) ?? []
  const asked = {
    of: search.of ?? 'vms',
    minutes: search.minutes ?? 60,
    source: search.source ?? vms[0],
    target: search.target ?? vms[1],
  }
  const isWhole = mesh !== undefined && (asked.of !== 'flows' || (asked.source && asked.target) !== undefined)
  const index = useQuery({ ...fairnessQuery(mesh?.id ?? '', asked), enabled: isWhole })
  if (meshes.error && !meshes.data) return <Failed what={strings.fairness} error={meshes.error} />
  if (!meshes.data || index.isLoading) return <LoadingPage title={strings.fairness} what={strings.fairnessLower} />
  if (!mesh) {
    return (
      <Empty title={strings.noMesh} action={<ButtonLink to="/onboarding">{strings.newMesh}</ButtonLink>}>
        {strings.noMeshLead}
      </Empty>
    )
  }
  const among = asked.of === 'metric_sources' ? undefined : asked.of
  return (
    <Page title={strings.fairness} lead={strings.fairnessLead}>
      <div className={pageStyles.form}>
        <Choice
          label={strings.mesh}
          value={mesh.id}
          data={named(meshes.data)}
          onChange={(mesh) => onSearch({ mesh, source: undefined, target: undefined })}
        />
        <Choice
          label={strings.among}
          value={asked.of}
          data={labelled(strings.of, OF)}
          onChange={(of) => onSearch({ of })}
        />
        {asked.of === 'flows' ? (
          <>
            <Choice
              label={strings.from}
              value={asked.source ?? ''}
              data={vms}
              onChange={(source) => onSearch({ source })}
            />
            <Choice
              label={strings.to}
              value={asked.target ?? ''}
              data={vms.filter((name) => name !== asked.source)}
              onChange={(target) => onSearch({ target })}
            />
          </>
        ) : (
          asked.of !== 'applications' && (
            <LiveNumber
              label={strings.lookBackMinutes}
              number={asked.minutes}
              min={2}
              max={1_440}
              w={140}
              onNumber={(minutes) => onSearch({ minutes })}
            />
          )
        )}
      </div>
      {isWhole && (
        <QueryResult query={index} what={strings.fairnessLower}>
          {(found) => <Found found={found} />}
        </QueryResult>
      )}
      <Import />
      <Panel title={strings.alerts}>
        {among && (
          <p className={pageStyles.lead}>
            {strings.alertLead}{' '}
            <TextLink
              underline="always"
              to="/alert-rules/new"
              search={alertOf(mesh.id, among, asked.source, asked.target)}
            >
              {strings.newAlertRule}
            </TextLink>
          </p>
        )}
        <p className={pageStyles.lead}>
          {strings.alertHookLead} <Code>/v1/advisors/fairness/metrics</Code>
        </p>
      </Panel>
    </Page>
  )
}

/** Return the search of a new alert rule about the members of a question; of flows about their path. */
function alertOf(mesh: string, of: Exclude<FairnessOf, 'metric_sources'>, source?: string, target?: string) {
  return { mesh, among: of, ...(of === 'flows' && source && target ? { source, target } : {}) }
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
        <Records
          low
          label={strings.members}
          rows={found.members}
          id={({ name }) => name}
          columns={[
            { title: strings.member, cell: ({ name }) => name, as: 'head' },
            { title: strings.shareColumn[found.of], cell: ({ share }) => threeDigits(share), as: 'number' },
            { title: strings.relative, cell: ({ relative }) => `${threeDigits(100 * relative)} %`, as: 'number' },
          ]}
        />
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
        <Records
          low
          label={strings.imported}
          rows={compute.data.groups}
          id={({ group }) => group}
          columns={[
            { title: strings.group, cell: ({ group }) => group, as: 'head' },
            { title: strings.windows, cell: ({ windows }) => formatCount(windows.length), as: 'number' },
            { title: strings.mean, cell: ({ mean }) => mean?.toFixed(4) ?? NO_VALUE, as: 'number' },
            { title: strings.lowest, cell: ({ windows }) => lowest(windows), as: 'number' },
          ]}
        />
      )}
    </Panel>
  )
}

/** Return the smallest index of the windows that have one. */
function lowest(windows: readonly { index: number | null }[]): string {
  const known = windows.flatMap(({ index }) => (index === null ? [] : [index]))
  return known.length > 0 ? Math.min(...known).toFixed(4) : NO_VALUE
}
