import { Checkbox, NativeSelect, SegmentedControl, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { applicationsQuery } from '~/api/applications'
import { hasEstimates, hasFlows, type Shown } from '~/api/measurements'
import type { Mesh } from '~/api/types'
import { type Granularity, MATRIX_METRICS, type MatrixMetric, STATISTICS, type Statistic } from '~/lib/dimensions'
import { facts, MATRIX_METRIC_OPTIONS, STATISTIC_OPTIONS } from '~/lib/metrics'
import styles from './matrix.module.css'
import type { MatrixSearch } from './search'
import { strings } from './strings'

interface Props {
  mesh: Mesh
  chosen: Shown
  onSearch: (patch: MatrixSearch) => void
  onAxis: (patch: MatrixSearch) => void
}

/** The metric of an application, in the list of metrics. */
const COST = 'cost:'

const metricIn = (value: string): { metric: MatrixMetric; app: string | undefined } =>
  value.startsWith(COST)
    ? { metric: 'predicted_loss', app: value.slice(COST.length) }
    : { metric: MATRIX_METRICS.find((metric) => metric === value) as MatrixMetric, app: undefined }

/** Controls of the heatmap. A new metric resets a fixed scale, a new axis resets the zoom. */
export function Controls({ mesh, chosen, onSearch, onAxis }: Props) {
  const { hasStatistic, name, about } = facts(chosen.metric)
  const { data: applications } = useQuery(applicationsQuery)
  const priced = (applications ?? [])
    .filter((application) => application.mesh.id === mesh.id)
    .map((application) => ({ value: COST + application.id, label: application.name }))
  return (
    <div className={styles.controls}>
      <SegmentedControl
        aria-label={strings.granularity}
        data={[
          { value: 'vm', label: strings.vmByVm },
          { value: 'zone', label: strings.zoneByZone },
        ]}
        value={chosen.by}
        onChange={(by) => onAxis({ by: by as Granularity })}
      />
      <Tooltip label={about} position="bottom-start">
        <NativeSelect
          aria-label={strings.metric}
          w={152}
          size="xs"
          data={[
            { group: strings.measured, items: MATRIX_METRIC_OPTIONS },
            ...(priced.length > 0 ? [{ group: strings.performanceLost, items: priced }] : []),
          ]}
          value={chosen.app ? COST + chosen.app : chosen.metric}
          onChange={({ currentTarget: { value } }) => onSearch({ ...metricIn(value), scale: '' } as MatrixSearch)}
        />
      </Tooltip>
      <Tooltip label={strings.oneValueOnly(name)} disabled={hasStatistic}>
        <NativeSelect
          aria-label={strings.statistic}
          w={80}
          size="xs"
          data={STATISTIC_OPTIONS}
          disabled={!hasStatistic}
          value={chosen.statistic}
          onChange={({ currentTarget: { value } }) =>
            onSearch({ statistic: STATISTICS.find((s) => s === value) as Statistic, scale: '' })
          }
        />
      </Tooltip>
      <Tooltip label={strings.estimatesHint} multiline w={320}>
        <Checkbox
          size="xs"
          label={strings.estimates}
          disabled={!hasEstimates(chosen)}
          checked={chosen.estimates === true}
          onChange={({ currentTarget: { checked } }) =>
            onSearch({ estimates: checked || undefined, scale: '' } as MatrixSearch)
          }
        />
      </Tooltip>
      {mesh.flows > 1 && (
        <Tooltip label={strings.slowestFlowHint(mesh.flows)} multiline w={320}>
          <Checkbox
            size="xs"
            label={strings.slowestFlow}
            disabled={!hasFlows(chosen)}
            checked={chosen.slowest}
            onChange={({ currentTarget: { checked } }) =>
              onSearch({ flows: checked ? 'slowest' : undefined, scale: '' } as MatrixSearch)
            }
          />
        </Tooltip>
      )}
    </div>
  )
}
