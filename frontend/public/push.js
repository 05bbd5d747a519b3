// The service worker of push messages, and of nothing else: it caches nothing and answers no request of the page.
const german = self.navigator.language.startsWith("de");

self.addEventListener("push", (event) => {
  const { id, kind, title, lines, link } = event.data.json();
  const isQuestion = kind === "question";
  event.waitUntil(
    self.registration.showNotification(title, {
      body: lines.join("\n"),
      tag: id, // told twice, it is shown once
      icon: "/icon-192.png",
      requireInteraction: isQuestion,
      // Nothing is approved from here: both the button and the notification lead to the question, whole.
      actions: isQuestion ? [{ action: "look", title: german ? "Ansehen" : "Look at it" }] : [],
      data: link,
    }),
  );
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { pathname } = new URL(event.notification.data, self.location.origin); // of this page, wherever a link may point
  event.waitUntil(self.clients.openWindow(pathname));
});
