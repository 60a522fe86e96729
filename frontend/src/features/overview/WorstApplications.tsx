import { useQuery } from '@tanstack/react-query'
import { contractsQuery } from '~/api/applications'
import { EditorsOnly } from '~/api/EditorsOnly'
import type { ApplicationRanking } from '~/api/overview'
import type { Contract } from '~/api/types'
import { Day } from '~/charts/sparkline/Day'
import { dayOf, formatShare } from '~/lib/performance'
import { formatCount, NO_VALUE } from '~/lib/units'
import { applicationColumn } from '~/ui/applicationColumn'
import { TextLink } from '~/ui/links'
import { pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import styles from './overview.module.css'
import { strings } from './strings'

type Ranked = ApplicationRanking['worst'][number]

interface OfApplication {
  application: Ranked
  contract: Contract | undefined
}

/** The objective, and whether it is met now; of a contract, the share of thirty days in which it was kept. */
function Objective({ application: { objective, performance, below_objective }, contract }: OfApplication) {
  if (objective === null) return NO_VALUE
  if (performance === null) return formatShare(objective)
  return (
    <>
      {formatShare(objective)}{' '}
      <span className={below_objective || (contract?.budget_left_s ?? 0) < 0 ? styles.missed : styles.quiet}>
        {below_objective
          ? strings.missed
          : contract?.kept == null
            ? strings.met
            : strings.keptOf(formatShare(contract.kept))}
      </span>
    </>
  )
}

/** The applications with the lowest predicted performance; those that miss their objective first. */
export function WorstApplications({ ranking: { worst, evaluated, total } }: { ranking: ApplicationRanking }) {
  const { data: contracts } = useQuery({ ...contractsQuery(), enabled: total > 0 })
  const contractOf = ({ id }: Ranked) => contracts?.find(({ application }) => application.id === id)
  if (total === 0) {
    return (
      <p className={pageStyles.lead}>
        {strings.noApplications}{' '}
        <EditorsOnly>
          <TextLink underline="always" to="/applications/new">
            {strings.addApplication}
          </TextLink>
        </EditorsOnly>
      </p>
    )
  }
  return (
    <>
      <Records
        label={strings.applicationTable}
        rows={worst}
        id={({ id }) => id}
        columns={[
          applicationColumn,
          { title: strings.now, cell: ({ performance }) => formatShare(performance), as: 'number' },
          { title: strings.usual, cell: ({ day }) => formatShare(day.usual), as: 'number' },
          {
            title: strings.day,
            cell: ({ name, day, objective }) => <Day label={dayOf(name, day.usual)} day={day} objective={objective} />,
          },
          {
            title: strings.objective,
            cell: (application) => <Objective application={application} contract={contractOf(application)} />,
            as: 'number',
          },
        ]}
      />
      {evaluated < total && (
        <p className={pageStyles.lead}>{strings.evaluatedOf(formatCount(evaluated), formatCount(total))}</p>
      )}
    </>
  )
}
