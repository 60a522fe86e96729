import { Checkbox, NativeSelect } from '@mantine/core'
import type { Shown } from '~/api/measurements'
import type { Mesh } from '~/api/types'
import { baseOf, type MatrixSearch, rangeOf, type Span, VERSUS, type Versus } from '~/lib/search'
import { SPAN_OPTIONS, VERSUS_OPTIONS } from '~/lib/spans'
import { type Clock, formatMoment, zoneName } from '~/lib/time'
import { DownloadMenu } from '~/ui/DownloadMenu'
import { MomentField } from '~/ui/MomentField'
import styles from './matrix.module.css'

interface Props {
  mesh: Mesh
  shown: Shown
  search: MatrixSearch
  clock: Clock
  onSearch: (patch: MatrixSearch) => void
}

/** Of when the heatmap is: the newest windows, a range, or a range less an earlier one; and the same as a file. */
export function Period({ mesh, shown, search, clock, onSearch }: Props) {
  const { when } = shown
  const range = when && rangeOf(when.span, when.until)
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
      <NativeSelect
        aria-label="Time"
        size="xs"
        data={[{ value: '', label: 'Newest windows, live' }, ...SPAN_OPTIONS]}
        value={when?.span ?? ''}
        onChange={({ currentTarget: { value } }) =>
          onSearch(
            value === ''
              ? ({ span: undefined, until: undefined, versus: undefined, percent: undefined, scale: '' } as never)
              : { span: value as Span, scale: '' },
          )
        }
      />
      {when && (
        <>
          <MomentField
            label="Until"
            value={when.until}
            onChange={(until) => onSearch({ until: until ?? '', scale: '' })}
          />
          <NativeSelect
            aria-label="Compare with"
            size="xs"
            data={[
              { value: '', label: 'No comparison' },
              ...VERSUS_OPTIONS.map((one) => ({ ...one, label: `Less ${one.label}` })),
            ]}
            value={when.versus ?? ''}
            onChange={({ currentTarget: { value } }) =>
              onSearch({ versus: (value in VERSUS ? value : '') as Versus, scale: '' })
            }
          />
          {when.versus && (
            <Checkbox
              size="xs"
              label="In percent"
              checked={when.percent}
              onChange={({ currentTarget: { checked } }) => onSearch({ percent: checked, scale: '' })}
            />
          )}
          {range && search.until && (
            <span className={styles.hint}>
              to {formatMoment(new Date(range.to), clock)} {zoneName(clock, new Date(range.to))}
            </span>
          )}
        </>
      )}
      <DownloadMenu file={file} />
    </div>
  )
}
