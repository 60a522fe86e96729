import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useEdits } from '~/api/access'
import { priceBasisQuery, useDeletePriceBasis, useSetPriceBasis } from '~/api/advisors'
import { applicationsQuery } from '~/api/applications'
import type { PriceBasis as Basis } from '~/api/types'
import { named } from '~/lib/options'
import { Choice } from '~/ui/Choice'
import { WordLink } from '~/ui/links'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { ActionError, Notice } from '~/ui/State'
import { type MixSearch, serviceOf } from './question'
import { strings } from './strings'

/** The service of the question as the price basis of an application, by which its recommended moves are priced. */
export function PriceBasis({ asked }: { asked: Required<MixSearch> }) {
  const applications = useQuery(applicationsQuery)
  const [chosen, setChosen] = useState('')
  return (
    <Panel title={strings.priceBasis}>
      <p className={pageStyles.lead}>{strings.priceBasisLead}</p>
      <QueryResult query={applications} what={strings.applicationsLower}>
        {(rows) => {
          const id = rows.some((row) => row.id === chosen) ? chosen : rows[0]?.id
          if (id === undefined) {
            return (
              <Notice tone="info" title={strings.noApplications}>
                <WordLink to="/applications/new">{strings.addApplication}</WordLink>
              </Notice>
            )
          }
          return (
            <div className={pageStyles.form}>
              <Choice label={strings.application} value={id} data={named(rows)} onChange={setChosen} />
              <OfApplication key={id} applicationId={id} asked={asked} />
            </div>
          )
        }}
      </QueryResult>
    </Panel>
  )
}

function OfApplication({ applicationId, asked }: { applicationId: string; asked: Required<MixSearch> }) {
  const basis = useQuery(priceBasisQuery(applicationId))
  const save = useSetPriceBasis()
  const remove = useDeletePriceBasis()
  const edits = useEdits()
  return (
    <>
      <p className={pageStyles.lead}>{basis.data ? summary(basis.data) : strings.noPriceBasis}</p>
      {edits && (
        <Button
          loading={save.isPending}
          onClick={() =>
            save.mutate({ applicationId, body: serviceOf(asked), ...(basis.data && { version: basis.data.version }) })
          }
          variant="default"
        >
          {strings.useAsBasis}
        </Button>
      )}
      {edits && basis.data && (
        <Button loading={remove.isPending} onClick={() => remove.mutate(applicationId)} variant="default">
          {strings.deleteBasis}
        </Button>
      )}
      <ActionError error={save.error ?? remove.error ?? basis.error} />
    </>
  )
}

function summary({ service }: Basis): string {
  const { percentile, response_ms: response } = service.target
  const statistic = percentile === null || percentile === undefined ? strings.statistics.mean : `p${percentile}`
  return strings.basisSummary(
    String(service.load_per_s),
    `${statistic} ${response} ms`,
    service.vm_types.map(({ name }) => name).join(', '),
    service.serverless !== null && service.serverless !== undefined,
  )
}
