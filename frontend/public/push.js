// The service worker of push messages, and of nothing else: it caches nothing and answers no request of the page.
self.addEventListener("push", (event) => {
  const { id, kind, title, lines, link } = event.data.json();
  event.waitUntil(
    self.registration.showNotification(title, {
      body: lines.join("\n"),
      tag: id, // told twice, it is shown once
      icon: "/icon.svg",
      requireInteraction: kind === "question",
      data: link,
    }),
  );
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { pathname } = new URL(event.notification.data, self.location.origin); // of this page, wherever a link may point
  event.waitUntil(self.clients.openWindow(pathname));
});
