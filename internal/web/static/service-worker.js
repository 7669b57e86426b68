// Shows push messages. It keeps no pages and sees no requests.
'use strict'

addEventListener('push', (event) => {
  const { title, body, lang, url, tag } = event.data.json()
  event.waitUntil(registration.showNotification(title, { body, lang, tag, data: { url } }))
})

addEventListener('notificationclick', (event) => {
  event.notification.close()
  const url = new URL(event.notification.data.url || '/', location.origin)
  if (url.origin !== location.origin) return
  event.waitUntil(clients.matchAll({ type: 'window' }).then((open) => {
    const page = open.find((client) => client.url === url.href)
    return page ? page.focus() : clients.openWindow(url.href)
  }))
})
