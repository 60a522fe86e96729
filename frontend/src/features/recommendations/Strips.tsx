import { useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { applicationsQuery } from '~/api/applications'
import { matrixQuery, shownOf } from '~/api/measurements'
import type { Application, Recommendation } from '~/api/types'
import type { Place } from '~/charts/moves/geometry'
import { Strip } from '~/charts/moves/Strip'
import { valueOfCode } from '~/lib/codes'
import { formatDelay } from '~/lib/units'
import { Panel, pageStyles } from '~/ui/Page'
import { PictureMenu } from '~/ui/PictureMenu'
import styles from './recommendations.module.css'
import { strings } from './strings'

/** The VMs of each application by round trip to its root, with arrows for the moves. */
export function Strips({ recommendation, shown }: { recommendation: Recommendation; shown: Set<number> }) {
  const { data: applications } = useQuery(applicationsQuery)
  const { data: newest } = useQuery(
    matrixQuery(recommendation.mesh.id, shownOf({ metric: 'round_trip', flows: 'slowest' })),
  )
  const theme = useComputedColorScheme('light')
  if (!applications || !newest) return null
  const { vms } = newest.roster
  const at = new Map(vms.map(({ id }, index) => [id, index]))
  const touched = recommendation.result.applications.flatMap(
    ({ application }) => applications.find(({ id }) => id === application.id) ?? [],
  )
  const trips = (application: Application) => {
    const root = at.get(application.tasks.find((task) => task.root)?.vm?.id ?? '')
    const row = vms.map((_, column) =>
      root === undefined ? null : valueOfCode('round_trip', newest.matrix.codes[root * vms.length + column] ?? 0),
    )
    return { root, row }
  }
  const all = touched.flatMap((application) => trips(application).row.filter((value) => value !== null))
  const [least, most] = [Math.log(Math.max(Math.min(...all), 1)), Math.log(Math.max(...all, 2))]
  return (
    <Panel title={strings.placementBeforeAfter}>
      {touched.map((application) => {
        const { root, row } = trips(application)
        const here = new Set(application.tasks.flatMap((task) => (task.vm ? [at.get(task.vm.id)] : [])))
        const places: Place[] = vms.map(({ id, name, zone_name }, index) => {
          const trip = row[index]
          return {
            key: id,
            name,
            group: zone_name,
            share: trip == null ? null : most > least ? (Math.log(Math.max(trip, 1)) - least) / (most - least) : 0,
            filled: here.has(index),
          }
        })
        const arcs = recommendation.steps
          .filter((step) => step.application.id === application.id)
          .flatMap((step) => {
            const [from, to] = [at.get(step.source?.id ?? ''), at.get(step.target.id)]
            return from === undefined || to === undefined ? [] : [{ from, to, faint: !shown.has(step.position) }]
          })
        return (
          <figure key={application.id} className={styles.figure}>
            <figcaption>
              {application.name} <PictureMenu title={application.name} withTable={false} />
            </figcaption>
            <Strip
              label={strings.stripSummary(application.name, places.length, arcs.length)}
              places={places}
              origin={root ?? null}
              arcs={arcs}
              theme={theme}
              describe={(place) => {
                const index = at.get(place.key) ?? 0
                return index === root
                  ? strings.rootPlace(place.name)
                  : strings.placeToRoot(place.name, formatDelay(row[index]))
              }}
            />
          </figure>
        )
      })}
      <p className={pageStyles.quiet}>{strings.stripLegend(theme === 'dark')}</p>
    </Panel>
  )
}
