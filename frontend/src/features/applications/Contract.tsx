import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useRef } from 'react'
import { useEdits } from '~/api/access'
import { contractQuery, useUpdateApplication } from '~/api/applications'
import type { Contract as Account, Application } from '~/api/types'
import { formatShare } from '~/lib/performance'
import { fieldsOf } from '~/lib/problem'
import { formatAge } from '~/lib/time'
import { TextLink } from '~/ui/links'
import { NumberField } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'
import { strings } from './strings'

/** The contract of an application: what it states, and what has become of it. */
export function Contract({ application }: { application: Application }) {
  const { data } = useQuery(contractQuery(application))
  return (
    <Panel title={strings.contract} term="contract">
      {data ? (
        <>
          <p className={pageStyles.lead}>{accountWords(data)}</p>
          <Breaches account={data} />
        </>
      ) : (
        application.kept_share === null && <p className={pageStyles.lead}>{strings.noContract}</p>
      )}
      {useEdits() && <Terms key={application.version} application={application} />}
    </Panel>
  )
}

/** Return the account of a contract in one line: kept share, budget, moves of the day. */
export function accountWords(account: Account): string {
  const { objective, kept_share, kept, budget_left_s, moves_today, moves_per_day } = account
  const left = formatAge(Math.abs(budget_left_s) * 1000)
  return [
    strings.contractWords(formatShare(objective), formatShare(kept_share)),
    kept === null ? strings.notMeasuredYet : strings.keptWords(formatShare(kept)),
    kept !== null && (budget_left_s >= 0 ? strings.budgetLeft(left) : strings.budgetOver(left)),
    moves_per_day !== null && strings.movesOfDay(moves_today, moves_per_day),
  ]
    .filter(Boolean)
    .join(' ')
}

/** The incidents that broke a contract, and the moves that are proposed for it. */
export function Breaches({ account: { breaches, recommendation_id } }: { account: Account }) {
  return (
    <ul className={pageStyles.bullets}>
      {breaches.map(({ incident_id, title, broken_s }) => (
        <li key={incident_id}>
          {strings.brokenFor(formatAge(broken_s * 1000))}{' '}
          <TextLink to="/incidents/$incidentId" params={{ incidentId: incident_id }}>
            {title}
          </TextLink>
        </li>
      ))}
      {recommendation_id && (
        <li>
          <TextLink to="/recommendations/$recommendationId" params={{ recommendationId: recommendation_id }}>
            {strings.proposedForContract}
          </TextLink>
        </li>
      )}
    </ul>
  )
}

const percent = (share: number | null) => (share === null ? '' : Number((share * 100).toPrecision(6)))

/** The form of a contract: fields left empty state nothing. */
function Terms({ application }: { application: Application }) {
  const save = useUpdateApplication(application.id)
  const element = useRef<HTMLFormElement>(null)
  const wrong = fieldsOf(save)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(element.current as HTMLFormElement)
    const number = (name: string, factor: number) => {
      const text = String(form.get(name)).trim()
      return text === '' ? null : Number(text) / factor
    }
    const body = {
      objective: number('objective', 100),
      kept_share: number('kept_share', 100),
      moves_per_day: number('moves_per_day', 1),
    }
    save.mutate({ body, version: application.version })
  }

  const share = { min: 0.001, max: 100, step: 'any', w: 190 }
  return (
    <form className={pageStyles.form} onSubmit={submit} ref={element}>
      <NumberField
        {...wrong('objective')}
        label={strings.objectivePercent}
        defaultValue={percent(application.objective)}
        {...share}
      />
      <NumberField
        {...wrong('kept_share')}
        label={strings.keptPercent}
        defaultValue={percent(application.kept_share)}
        {...share}
        max={99.999}
      />
      <NumberField
        name="moves_per_day"
        label={strings.movesPerDay}
        defaultValue={application.moves_per_day ?? ''}
        min={0}
        w={150}
      />
      <Button type="submit" variant="default" loading={save.isPending}>
        {strings.save}
      </Button>
      <ActionError error={save.error} />
    </form>
  )
}
