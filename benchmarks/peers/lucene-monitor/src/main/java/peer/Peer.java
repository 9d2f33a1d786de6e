package peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.Term;
import org.apache.lucene.monitor.Monitor;
import org.apache.lucene.monitor.MonitorQuery;
import org.apache.lucene.monitor.MultiMatchingQueries;
import org.apache.lucene.monitor.MultipassTermFilteredPresearcher;
import org.apache.lucene.monitor.Presearcher;
import org.apache.lucene.monitor.QueryMatch;
import org.apache.lucene.monitor.TermFilteredPresearcher;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.TermQuery;

/**
 * Lucene Monitor over the words that `seine bench percolate --export DIR` wrote: queries.txt has `+word` and `-word`,
 * documents.txt has the words of a document a line. Stays alive between measurements, so that they are of warm code.
 *
 * <p>Reads commands of four words from standard input, `PRESEARCHER BATCH THREADS SECONDS DOCUMENTS`, and answers each
 * with a line: documents a second, pairs found in one pass over the first DOCUMENTS, passes, seconds.
 */
public final class Peer {
  private static final String FIELD = "body";
  private static final int REGISTERED_AT_ONCE = 10_000;

  private final List<MonitorQuery> queries = new ArrayList<>();
  private final List<String> documents;
  private final Map<String, Monitor> monitors = new HashMap<>();

  private Peer(Path directory) throws IOException {
    int id = 0;
    for (String line : Files.readAllLines(directory.resolve("queries.txt"))) {
      BooleanQuery.Builder query = new BooleanQuery.Builder();
      for (String word : line.split(" ")) {
        Occur occur = word.charAt(0) == '+' ? Occur.MUST : Occur.MUST_NOT;
        query.add(new TermQuery(new Term(FIELD, word.substring(1))), occur);
      }
      queries.add(new MonitorQuery(Integer.toString(++id), query.build()));
    }
    documents = Files.readAllLines(directory.resolve("documents.txt"));
  }

  public static void main(String[] arguments) throws Exception {
    Peer peer = new Peer(Path.of(arguments[0]));
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready " + peer.queries.size() + " " + peer.documents.size());
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split(" ");
      System.out.println(
          peer.measure(
              peer.monitor(words[0]),
              Integer.parseInt(words[1]),
              Integer.parseInt(words[2]),
              Double.parseDouble(words[3]),
              Math.min(Integer.parseInt(words[4]), peer.documents.size())));
    }
  }

  private Monitor monitor(String presearcher) throws IOException {
    Monitor monitor = monitors.get(presearcher);
    if (monitor == null) {
      // Two passes: each query has two words that must be there, and Lucene files it under both.
      Presearcher chosen =
          switch (presearcher) {
            case "term-filtered" -> new TermFilteredPresearcher();
            case "multipass" -> new MultipassTermFilteredPresearcher(2);
            default -> throw new IOException("no presearcher is called " + presearcher);
          };
      monitor = new Monitor(new WhitespaceAnalyzer(), chosen);
      for (int from = 0; from < queries.size(); from += REGISTERED_AT_ONCE) {
        monitor.register(queries.subList(from, Math.min(queries.size(), from + REGISTERED_AT_ONCE)));
      }
      monitors.put(presearcher, monitor);
    }
    return monitor;
  }

  /** Passes over the documents until the time is up; every pass must find as many pairs. */
  private String measure(Monitor monitor, int batch, int threads, double seconds, int count)
      throws Exception {
    long begun = System.nanoTime();
    long passes = 0;
    long pairs = -1;
    double elapsed = 0;
    while (passes == 0 || elapsed < seconds) {
      long found = pass(monitor, batch, threads, count);
      if (pairs >= 0 && found != pairs) {
        throw new IllegalStateException("a pass found " + found + " pairs, another " + pairs);
      }
      pairs = found;
      passes++;
      elapsed = (System.nanoTime() - begun) / 1e9;
    }
    double rate = passes * count / elapsed;
    return String.format(java.util.Locale.ROOT, "%.1f %d %d %.2f", rate, pairs, passes, elapsed);
  }

  private long pass(Monitor monitor, int batch, int threads, int count) throws Exception {
    AtomicInteger next = new AtomicInteger();
    AtomicLong pairs = new AtomicLong();
    List<Throwable> failures = new ArrayList<>();
    Runnable work =
        () -> {
          try {
            long own = 0;
            for (int from = next.getAndAdd(batch); from < count; from = next.getAndAdd(batch)) {
              own += match(monitor, from, Math.min(count, from + batch));
            }
            pairs.addAndGet(own);
          } catch (IOException failure) {
            synchronized (failures) {
              failures.add(failure);
            }
          }
        };
    List<Thread> running = new ArrayList<>();
    for (int number = 0; number < threads; number++) {
      Thread thread = new Thread(work);
      thread.start();
      running.add(thread);
    }
    for (Thread thread : running) {
      thread.join();
    }
    if (!failures.isEmpty()) {
      throw new IOException(failures.get(0));
    }
    return pairs.get();
  }

  /** Tokenising included, as on the other side. */
  private long match(Monitor monitor, int from, int to) throws IOException {
    Document[] batch = new Document[to - from];
    for (int number = from; number < to; number++) {
      Document document = new Document();
      document.add(new TextField(FIELD, documents.get(number), Field.Store.NO));
      batch[number - from] = document;
    }
    if (batch.length == 1) {
      return monitor.match(batch[0], QueryMatch.SIMPLE_MATCHER).getMatchCount();
    }
    MultiMatchingQueries<QueryMatch> found = monitor.match(batch, QueryMatch.SIMPLE_MATCHER);
    long pairs = 0;
    for (int number = 0; number < batch.length; number++) {
      pairs += found.getMatchCount(number);
    }
    return pairs;
  }
}
