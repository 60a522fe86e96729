import { ActionIcon, Tooltip } from '@mantine/core'
import { isWhole, longest, type Shape, type View } from '~/charts/heatmap/view'
import { FitIcon, MinusIcon, PlusIcon } from '~/ui/icons'
import styles from './matrix.module.css'
import { strings } from './strings'

interface Props {
  shape: Shape
  view: View
  zoomBy: (ratio: number) => void
  onWhole: () => void
}

/** Buttons that zoom the picture; a small one has none. */
export function ZoomButtons({ shape, view, zoomBy, onWhole }: Props) {
  if (longest(shape) <= 8) return null
  const whole = isWhole(view, shape)
  return (
    <div className={styles.zoom}>
      <Tooltip label={strings.zoomInHint}>
        <ActionIcon
          variant="default"
          aria-label={strings.zoomIn}
          disabled={view.count <= 4}
          onClick={() => zoomBy(1.6)}
        >
          <PlusIcon />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={strings.zoomOut}>
        <ActionIcon variant="default" aria-label={strings.zoomOut} disabled={whole} onClick={() => zoomBy(1 / 1.6)}>
          <MinusIcon />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={strings.showWholeMesh}>
        <ActionIcon variant="default" aria-label={strings.showWholeMesh} disabled={whole} onClick={onWhole}>
          <FitIcon />
        </ActionIcon>
      </Tooltip>
    </div>
  )
}
