import { Checkbox, NativeSelect } from '@mantine/core'
import type { Shown } from '~/api/measurements'
import type { Mesh } from '~/api/types'
import { baseOf, rangeOf, SPAN_OPTIONS, type Span, VERSUS, VERSUS_OPTIONS, type Versus } from '~/lib/spans'
import { type Clock, formatMoment, zoneName } from '~/lib/time'
import { DownloadMenu } from '~/ui/DownloadMenu'
import { MomentField } from '~/ui/MomentField'
import styles from './matrix.module.css'
import type { MatrixSearch } from './search'
import { strings } from './strings'

interface Props {
  mesh: Mesh
  shown: Shown
  search: MatrixSearch
  clock: Clock
  onSearch: (patch: MatrixSearch) => void
}

/** The time of the heatmap: newest windows, a range, or a range minus an earlier one; with a download. */
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
        aria-label={strings.timeRange}
        size="xs"
        data={[{ value: '', label: strings.liveWindows }, ...SPAN_OPTIONS]}
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
            label={strings.until}
            value={when.until}
            onChange={(until) => onSearch({ until: until ?? '', scale: '' })}
          />
          <NativeSelect
            aria-label={strings.compareWith}
            size="xs"
            data={[
              { value: '', label: strings.noComparison },
              ...VERSUS_OPTIONS.map((option) => ({ ...option, label: strings.comparedWith(option.label) })),
            ]}
            value={when.versus ?? ''}
            onChange={({ currentTarget: { value } }) =>
              onSearch({ versus: (value in VERSUS ? value : '') as Versus, scale: '' })
            }
          />
          {when.versus && (
            <Checkbox
              size="xs"
              label={strings.inPercent}
              checked={when.percent}
              onChange={({ currentTarget: { checked } }) => onSearch({ percent: checked, scale: '' })}
            />
          )}
          {range && search.until && (
            <span className={styles.hint}>
              {strings.rangeEnd(formatMoment(new Date(range.to), clock), zoneName(clock, new Date(range.to)))}
            </span>
          )}
        </>
      )}
      <DownloadMenu file={file} />
    </div>
  )
}
