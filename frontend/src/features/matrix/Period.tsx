import { Checkbox } from '@mantine/core'
import { matrixRange, type Shown } from '~/api/measurements'
import type { Mesh } from '~/api/types'
import { baseOf } from '~/lib/spans'
import { DownloadMenu } from '~/ui/DownloadMenu'
import styles from './matrix.module.css'
import type { MatrixSearch } from './search'
import { strings } from './strings'

interface Props {
  mesh: Mesh
  shown: Shown
  onSearch: (patch: MatrixSearch) => void
}

/** The unit of a comparison, and a download of the heatmap. */
export function Period({ mesh, shown, onSearch }: Props) {
  const { when } = shown
  const range = when && matrixRange(when)
  const file = (format: string) => {
    const query = new URLSearchParams({
      by: shown.by,
      metric: shown.metric,
      statistic: shown.statistic,
      ...range,
      ...(range && when.versus ? baseOf(range, when.versus) : {}),
      format,
    })
    return `/v1/meshes/${mesh.id}/${when?.versus ? 'comparison' : 'matrix'}?${query}`
  }
  return (
    <div className={styles.period}>
      {when?.versus && (
        <Checkbox
          size="xs"
          label={strings.inPercent}
          checked={when.percent}
          onChange={({ currentTarget: { checked } }) => onSearch({ percent: checked, scale: '' })}
        />
      )}
      {shown.metric !== 'predicted_loss' && <DownloadMenu file={file} />}
    </div>
  )
}
