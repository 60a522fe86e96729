import { createFileRoute } from '@tanstack/react-router'
import { NewCurvePage } from '~/features/curves/NewCurvePage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/curves/new')({
  staticData: { title: strings.newCurve, help: 'curves#fitting-your-own-measurements' },
  component: NewCurvePage,
})
