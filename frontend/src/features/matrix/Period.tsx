import { Checkbox } from '@mantine/core'
import { useRef } from 'react'
import { matrixRange, type Shown } from '~/api/measurements'
import type { Mesh } from '~/api/types'
import { baseOf } from '~/lib/spans'
import { DownloadMenu } from '~/ui/DownloadMenu'
import { PictureItems } from '~/ui/PictureMenu'
import styles from './matrix.module.css'
import type { MatrixSearch } from './search'
import { strings } from './strings'

interface Props {
  mesh: Mesh
  shown: Shown
  /** The title of the picture; undefined while there is none. */
  picture?: string
  onSearch: (patch: MatrixSearch) => void
}

/** The unit of a comparison, and a download of the heatmap. */
export function Period({ mesh, shown, picture, onSearch }: Props) {
  const { when } = shown
  const bar = useRef<HTMLDivElement>(null)
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
    <div ref={bar} className={styles.period}>
      {when?.versus && (
        <Checkbox
          size="xs"
          label={strings.inPercent}
          checked={when.percent}
          onChange={({ currentTarget: { checked } }) => onSearch({ percent: checked, scale: '' })}
        />
      )}
      {/* Lost performance is computed here from round trips: no file of the API has it. */}
      <DownloadMenu file={file} isPictureOnly={shown.metric === 'predicted_loss'}>
        {picture ? (close) => <PictureItems near={bar} title={picture} onSaved={close} /> : undefined}
      </DownloadMenu>
    </div>
  )
}
