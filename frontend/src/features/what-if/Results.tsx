import { useComputedColorScheme } from '@mantine/core'
import type { Fate, WhatIf } from '~/api/types'
import { TripsGrid } from '~/charts/trips/TripsGrid'
import { facts } from '~/lib/metrics'
import { formatChange, formatShare, formatShares, performanceBasis } from '~/lib/performance'
import { formatDelay, formatSignedDelay, NO_VALUE } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { WordLink } from '~/ui/links'
import { Panel, pageStyles } from '~/ui/Page'
import { PictureMenu } from '~/ui/PictureMenu'
import { Records } from '~/ui/Records'
import { Notice } from '~/ui/State'
import styles from './scenarios.module.css'
import { strings } from './strings'

/** Predicted performance of every application, and the round trips. */
export function Results({ result }: { result: WhatIf }) {
  const clock = useClock()
  return (
    <>
      {result.broken.length > 0 && (
        <Notice tone="warn" title={strings.constraintsViolated}>
          {result.broken.join('; ')}.
        </Notice>
      )}
      {result.placed.length > 0 && (
        <Notice tone="info" title={strings.placesFound}>
          {result.placed
            .map(({ application, task, vm }) => strings.taskOnVm(application.name, task.name, vm.name))
            .join('; ')}
          .
        </Notice>
      )}
      {result.applications.length === 0 ? (
        <Notice tone="info" title={strings.noApplications}>
          {strings.noApplicationsLead} <WordLink to="/applications/new">{strings.addApplication}</WordLink>
        </Notice>
      ) : (
        <>
          <p className={pageStyles.lead}>{performanceBasis(result, clock)}</p>
          <Records
            label={strings.beforeAndAfter}
            rows={result.applications}
            id={({ application }) => application.id}
            columns={[
              { title: strings.application, cell: ({ application }) => application.name, as: 'head' },
              {
                title: strings.before,
                term: 'performance',
                cell: ({ before }) => formatShare(before?.mean),
                as: 'number',
              },
              { title: strings.after, cell: ({ after }) => formatShare(after?.mean), as: 'number' },
              {
                title: result.minutes === null ? strings.curveInterval : strings.confidenceInterval,
                cell: ({ after }) => (after ? strings.interval(...formatShares(after.low, after.high)) : NO_VALUE),
                as: 'number',
              },
              { title: strings.change, cell: ({ gain }) => formatChange(gain?.gain.mean), as: 'number' },
              {
                title: strings.objective,
                term: 'objective',
                cell: ({ objective }) => (objective === null ? NO_VALUE : formatShare(objective)),
                as: 'number',
              },
              { title: strings.notes, cell: notes, as: 'quiet' },
            ]}
          />
        </>
      )}
      <Grids trips={result.trips} />
    </>
  )
}

function notes({ after, below_objective, waiting, beyond }: Fate): string {
  const words = [
    after === null && strings.notMeasured,
    below_objective && strings.belowObjective,
    waiting > 0 && `${waiting} ${waiting === 1 ? strings.taskWaits : strings.tasksWait}`,
    beyond > 0 && strings.linksExtrapolated(beyond, beyond === 1 ? strings.linkIs : strings.linksAre),
  ]
  return words.filter(Boolean).join(', ')
}

function Grids({ trips }: { trips: WhatIf['trips'] }) {
  const theme = useComputedColorScheme('light')
  const all = [...trips.before_ns, ...trips.after_ns].flat().filter((value) => value !== null)
  if (all.length === 0) return null
  const range: [number, number] = [Math.min(...all), Math.max(...all)]
  const changes = trips.after_ns.map((line, row) =>
    line.map((after, column) => {
      const before = trips.before_ns[row]?.[column] ?? null
      return after === null || before === null ? null : after - before
    }),
  )
  const grid = (values: (number | null)[][], words: string, isChange = false) => (
    <figure>
      <figcaption>
        {words} <PictureMenu title={`${strings.roundTrips}: ${words.toLowerCase()}`} withTable={false} />
      </figcaption>
      <TripsGrid
        label={strings.roundTripsBetween(
          trips.names.length,
          trips.by === 'vm' ? strings.vmsLower : strings.zonesLower,
          words.toLowerCase(),
        )}
        names={trips.names}
        values={values}
        range={isChange ? [1, facts('deviation').least] : range}
        diverges={isChange}
        theme={theme}
        describe={(row, column) =>
          strings.pathValue(
            trips.names[row] ?? '',
            trips.names[column] ?? '',
            isChange
              ? strings.changedTo(
                  formatSignedDelay(values[row]?.[column] ?? null),
                  formatDelay(trips.after_ns[row]?.[column] ?? null),
                )
              : formatDelay(values[row]?.[column] ?? null),
          )
        }
        marked={(row, column) => trips.before_ns[row]?.[column] !== trips.after_ns[row]?.[column]}
      />
    </figure>
  )
  return (
    <Panel title={strings.roundTrips}>
      <div className={styles.grids}>
        {grid(trips.before_ns, strings.before)}
        {grid(changes, strings.change, true)}
      </div>
      <p className={pageStyles.quiet}>
        {strings.gridLegend(formatDelay(range[0]), formatDelay(range[1]), theme === 'dark')}
      </p>
    </Panel>
  )
}
