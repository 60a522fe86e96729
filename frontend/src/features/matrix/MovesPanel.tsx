import { Button, Slider } from '@mantine/core'
import { stateOf } from '~/api/recommendations'
import type { Recommendation } from '~/api/types'
import { lineRamp, type Theme } from '~/charts/heatmap/palette'
import { formatChange, formatShare } from '~/lib/performance'
import { sentenceCase } from '~/lib/text'
import { formatMoment } from '~/lib/time'
import { formatTrip } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { TextLink } from '~/ui/links'
import { errorText, Loading, Notice } from '~/ui/State'
import styles from './matrix.module.css'
import type { Leg } from './moves'
import type { ChangeSearch } from './search'
import { strings } from './strings'
import { type Moves, taskOf } from './useMoves'

interface Props {
  meshId: string
  moves: Moves
  theme: Theme
  onSearch: ChangeSearch
  /** For a reader without an account, who can open nothing else. */
  isEmbedded?: boolean
}

/** The moves that the heatmap shows: what they gain, how many of them are carried out, and each of them. */
export default function MovesPanel({ meshId, moves, theme, onSearch, isEmbedded = false }: Props) {
  const { recommendation, legs } = moves
  const clock = useClock()
  return (
    <section className={styles.card} aria-label={strings.moves}>
      <header className={styles.cardHead}>
        <h2>{recommendation && legs.length > 0 ? titleOf(recommendation, legs) : strings.moves}</h2>
        {recommendation && (
          <p>
            {sentenceCase(stateOf(recommendation))}.{' '}
            {strings.foundAt(formatMoment(new Date(recommendation.created_at), clock))}
          </p>
        )}
      </header>
      <Doubts meshId={meshId} moves={moves} />
      {recommendation && legs.length > 0 && (
        <>
          <ul className={styles.gains}>
            {recommendation.result.applications.map(({ application, expected: { before, after, gain } }) => (
              <li key={application.id}>
                {application.name} {formatShare(before.mean)} → <strong>{formatShare(after.mean)}</strong>{' '}
                <span className={styles.count}>{formatChange(gain.mean)}</span>
              </li>
            ))}
          </ul>
          <Progress made={moves.made} of={legs.length} onSearch={onSearch} />
          <ol className={styles.moves}>
            {legs.map((leg) => (
              <Row key={leg.key} leg={leg} moves={moves} />
            ))}
          </ol>
          <LineKeys theme={theme} />
        </>
      )}
      {!isEmbedded && (
        <div className={styles.controls}>
          {recommendation && (
            <TextLink to="/recommendations/$recommendationId" params={{ recommendationId: recommendation.id }}>
              {strings.openRecommendation}
            </TextLink>
          )}
          <Button
            variant="default"
            size="xs"
            onClick={() => void onSearch({ moves: undefined, step: undefined, move: undefined })}
          >
            {strings.hideMoves}
          </Button>
        </div>
      )}
    </section>
  )
}

/** "3 moves for checkout and training". */
function titleOf({ result }: Recommendation, legs: readonly Leg[]): string {
  const names = result.applications.map(({ application }) => application.name)
  return strings.movesFor(legs.length, names)
}

/** Why moves are not, or not all, on the heatmap. */
function Doubts({ meshId, moves }: Pick<Props, 'meshId' | 'moves'>) {
  const { recommendation, error, legs, gone, outside } = moves
  if (!recommendation) {
    return error ? (
      <Notice tone="warn" title={strings.noSuchMoves}>
        {errorText(error)}
      </Notice>
    ) : (
      <Loading what={strings.movesLower} />
    )
  }
  if (recommendation.mesh.id !== meshId) {
    return (
      <Notice tone="info">
        {strings.ofOtherMesh(recommendation.mesh.name)}{' '}
        <TextLink
          size="md"
          to="/meshes/$meshId"
          params={{ meshId: recommendation.mesh.id }}
          search={{ moves: recommendation.id }}
        >
          {strings.openItsHeatmap}
        </TextLink>
      </Notice>
    )
  }
  if (legs.length === 0) return <Notice tone="info">{strings.nothingToMove}</Notice>
  return (
    <>
      {gone.length > 0 && <Notice tone="warn">{strings.goneVms(gone)}</Notice>}
      {outside > 0 && <Notice tone="info">{strings.outsideMoves(outside)}</Notice>}
    </>
  )
}

/** Before, after, and each move between. */
function Progress({ made, of, onSearch }: { made: number; of: number; onSearch: ChangeSearch }) {
  const show = (step: number) => void onSearch({ step: step >= of ? undefined : step })
  const side = (label: string, step: number) => (
    <Button
      size="xs"
      variant={made === step ? 'light' : 'default'}
      aria-pressed={made === step}
      aria-keyshortcuts={made === step ? undefined : step === 0 || made === 0 ? 'a' : undefined}
      onClick={() => show(step)}
    >
      {label}
    </Button>
  )
  return (
    <div className={styles.progress}>
      <Button.Group aria-label={strings.movesMade}>
        {side(strings.before, 0)}
        {side(strings.after, of)}
      </Button.Group>
      <Slider
        className={styles.track}
        min={0}
        max={of}
        step={1}
        value={made}
        label={null}
        thumbLabel={strings.movesMade}
        thumbValueText={strings.afterMoves(made, of)}
        onChange={show}
      />
      <output>{strings.afterMoves(made, of)}</output>
    </div>
  )
}

function Row({ leg, moves }: { leg: Leg; moves: Moves }) {
  const { key, move, from, to } = leg
  const { round_trip_before_ns: before, round_trip_after_ns: after, gain, source, target } = move
  const point = () => moves.point(key)
  const leave = () => moves.point(null)
  return (
    <li>
      <button
        type="button"
        className={styles.moveRow}
        aria-pressed={moves.chosen === key}
        data-pointed={moves.pointed === key || undefined}
        onPointerEnter={point}
        onPointerLeave={leave}
        onFocus={point}
        onBlur={leave}
        onClick={() => moves.choose(key)}
      >
        <strong>
          {key} · {taskOf(move)}
        </strong>
        <span>
          {from?.name ?? strings.waiting} → {to.name}
          {source && `, ${source.zone === target.zone ? strings.sameZone : strings.toZone(target.zone)}`}
        </span>
        <small>
          {to.id === target.id
            ? `${strings.roundTrip} ${before === null ? '' : `${formatTrip(before)} → `}${formatTrip(after)}; ${strings.performanceLower} ${gain ? `${formatShare(gain.before.mean)} → ${formatShare(gain.after.mean)}` : strings.unknown}`
            : strings.onTheWay(target.name)}
        </small>
      </button>
    </li>
  )
}

/** The colours and the strokes of the arrows. */
function LineKeys({ theme }: { theme: Theme }) {
  const ramp = lineRamp(theme)
  const colours = [0, 0.25, 0.5, 0.75, 1].map((share) => `rgb(${ramp(share).join(' ')})`).join(', ')
  return (
    <p className={styles.lineKeys}>
      <span>{strings.lostScale}</span> 0 <i style={{ background: `linear-gradient(to right, ${colours})` }} /> 100
      <br />
      {strings.lineColours}
    </p>
  )
}
