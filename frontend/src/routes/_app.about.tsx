import { createFileRoute } from '@tanstack/react-router'
import { AboutPage } from '~/features/settings/AboutPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/about')({ staticData: { title: strings.about }, component: AboutPage })
