package peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.queries.intervals.IntervalQuery;
import org.apache.lucene.queries.intervals.Intervals;
import org.apache.lucene.queries.intervals.IntervalsSource;
import org.apache.lucene.queries.spans.SpanFirstQuery;
import org.apache.lucene.queries.spans.SpanTermQuery;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.Version;

/** Lucene as a peer of `seine bench search` and `seine bench index`; see ../README.md for the commands it reads. */
public final class Peer {
  private static final String FIELD = "body";
  /** What stands between sentences in documents of their own; no word is spelt so. */
  private static final String END = ".";

  /** What the words of a query are to each other, and the rows that an answer shows. */
  enum Mode {
    ANY(100),
    ALL(100),
    PHRASE(100),
    NEAR(20),
    QUORUM(20),
    SENTENCE(20),
    START(20),
    BEFORE(20),
    PREFIX(20);

    private final int rows;

    Mode(int rows) {
      this.rows = rows;
    }
  }

  private final IndexSearcher searcher;
  private final Map<Mode, List<String[]>> queries = new EnumMap<>(Mode.class);
  private final AtomicInteger next = new AtomicInteger();
  private final Map<Mode, int[]> known = new EnumMap<>(Mode.class);

  private Peer(DirectoryReader reader, Path queries) throws IOException {
    searcher = new IndexSearcher(reader);
    searcher.setQueryCache(null);
    for (String line : Files.readAllLines(queries)) {
      int tab = line.indexOf('\t');
      String[] words = line.substring(tab + 1).split(" ");
      if (tab > 0) {
        add(mode(line.substring(0, tab)), words);
        continue;
      }
      for (Mode mode : List.of(Mode.ANY, Mode.ALL, Mode.PHRASE)) {
        add(mode, words);
      }
    }
  }

  private void add(Mode mode, String[] words) {
    queries.computeIfAbsent(mode, unused -> new ArrayList<>()).add(words);
  }

  private static Mode mode(String name) {
    return Mode.valueOf(name.toUpperCase(Locale.ROOT));
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("index")) {
      Indexing.serve(Path.of(arguments[1]), Path.of(arguments[2]));
      return;
    }
    long begun = System.nanoTime();
    Path directory = Path.of(arguments[3]);
    Indexing.build(Path.of(arguments[1]), directory);
    DirectoryReader reader = DirectoryReader.open(new MMapDirectory(directory));
    Peer peer = new Peer(reader, Path.of(arguments[2]));
    System.out.printf(
        Locale.ROOT,
        "ready Lucene %s (2026) on Java %s, %d segment(s), %d documents, %.0f s%n",
        Version.LATEST,
        System.getProperty("java.version"),
        reader.leaves().size(),
        reader.numDocs(),
        (System.nanoTime() - begun) / 1e9);
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      System.out.println(peer.answer(line.split(" ")));
    }
  }

  private String answer(String[] words) throws Exception {
    Mode mode = mode(words[1]);
    if (!known.containsKey(mode)) {
      int[] totals = new int[queries.get(mode).size()];
      for (int number = 0; number < totals.length; number++) {
        totals[number] = one(mode, number);
      }
      known.put(mode, totals);
    }
    if (words[0].equals("totals")) {
      return Arrays.stream(known.get(mode)).mapToObj(Integer::toString).collect(Collectors.joining(" "));
    }
    return measure(mode, Integer.parseInt(words[2]), Double.parseDouble(words[3]));
  }

  private Query query(Mode mode, String[] words) {
    return switch (mode) {
      case ANY, ALL, PHRASE -> ofWords(mode, words);
      // A distance of 5 leaves 4 positions between the words.
      case NEAR -> new IntervalQuery(FIELD, Intervals.maxgaps(4, unordered(words)));
      case QUORUM -> quorum(words, 3);
      case SENTENCE -> new IntervalQuery(FIELD, Intervals.notContaining(unordered(words), Intervals.term(END)));
      case START -> new SpanFirstQuery(new SpanTermQuery(new Term(FIELD, words[0])), 1);
      case BEFORE -> new IntervalQuery(FIELD, Intervals.ordered(sources(words)));
      case PREFIX -> new PrefixQuery(new Term(FIELD, words[0]));
    };
  }

  private static Query ofWords(Mode mode, String[] words) {
    if (words.length == 1) {
      return new TermQuery(new Term(FIELD, words[0]));
    }
    if (mode == Mode.PHRASE) {
      return new PhraseQuery(FIELD, words);
    }
    BooleanQuery.Builder query = new BooleanQuery.Builder();
    for (String word : new LinkedHashSet<>(Arrays.asList(words))) {
      query.add(new TermQuery(new Term(FIELD, word)), mode == Mode.ANY ? Occur.SHOULD : Occur.MUST);
    }
    return query.build();
  }

  private static Query quorum(String[] words, int least) {
    BooleanQuery.Builder query = new BooleanQuery.Builder().setMinimumNumberShouldMatch(least);
    for (String word : words) {
      query.add(new TermQuery(new Term(FIELD, word)), Occur.SHOULD);
    }
    return query.build();
  }

  private static IntervalsSource[] sources(String[] words) {
    return Arrays.stream(words).map(Intervals::term).toArray(IntervalsSource[]::new);
  }

  private static IntervalsSource unordered(String[] words) {
    return Intervals.unordered(sources(words));
  }

  /** The best rows, and the exact total. */
  private int one(Mode mode, int number) throws IOException {
    Query query = query(mode, queries.get(mode).get(number));
    TopDocs found = searcher.search(query, new TopScoreDocCollectorManager(mode.rows, Integer.MAX_VALUE));
    return Math.toIntExact(found.totalHits.value());
  }

  /** Asks until the time is up, from a list that begins again at its end. */
  private String measure(Mode mode, int threads, double seconds) throws Exception {
    int[] totals = known.get(mode);
    long begun = System.nanoTime();
    long until = begun + (long) (seconds * 1e9);
    Worker[] workers = new Worker[threads];
    for (int number = 0; number < threads; number++) {
      workers[number] = new Worker(mode, totals, until);
      workers[number].start();
    }
    for (Worker worker : workers) {
      worker.join();
      if (worker.failure != null) {
        throw worker.failure;
      }
    }
    double elapsed = (System.nanoTime() - begun) / 1e9;
    long[] times = Arrays.stream(workers).flatMapToLong(Worker::times).sorted().toArray();
    return String.format(
        Locale.ROOT,
        "%.1f %d %.3f %.4f %.4f",
        times.length / elapsed,
        times.length,
        elapsed,
        times[times.length / 2] / 1e6,
        times[(int) (times.length * 0.99)] / 1e6);
  }

  private final class Worker extends Thread {
    private final Mode mode;
    private final int[] totals;
    private final long until;
    private long[] times = new long[1 << 16];
    private int count = 0;
    private Exception failure;

    Worker(Mode mode, int[] totals, long until) {
      this.mode = mode;
      this.totals = totals;
      this.until = until;
    }

    java.util.stream.LongStream times() {
      return IntStream.range(0, count).mapToLong(place -> times[place]);
    }

    @Override
    public void run() {
      try {
        for (long at = System.nanoTime(), now; at < until; at = now) {
          int number = Math.floorMod(next.getAndIncrement(), totals.length);
          int total = one(mode, number);
          if (total != totals[number]) {
            throw new IOException("query " + number + " found " + total + ", before " + totals[number]);
          }
          now = System.nanoTime();
          if (count == times.length) {
            times = Arrays.copyOf(times, 2 * count);
          }
          times[count++] = now - at;
        }
      } catch (Exception caught) {
        failure = caught;
      }
    }
  }
}
